/** Constructs of the shell that run or change something which no reading of the text can tell. */
import { forEachChild, type SyntaxNode } from "unbash";
import { isLocalName } from "./variables.ts";

/** Why nobody can tell what this construct does, or null when its parts tell it. */
export function syntaxProblem(node: SyntaxNode, source: string, shell: "bash" | "posix"): string | null {
  if (shell === "posix" && !isPosix(node, source)) return "sh and bash read this in different ways";
  switch (node.type) {
    case "Script":
      return node.errors === undefined || node.errors.length === 0 ? null : "it is no complete command";
    case "Coproc":
    case "Select":
      return "it cannot be judged";
    case "ArithmeticFor":
    case "ArithmeticCommand":
    case "ArithmeticExpansion":
      return isPlainSum(node) ? null : "arithmetic over variables can run commands";
    case "ParameterExpansion":
      return parameterProblem(node);
    case "TestUnary":
      return /^-[vR]$/.test(node.operator) ? "a test of a variable can run commands" : null;
    case "TestBinary":
      return /^-(eq|ne|lt|le|gt|ge)$/.test(node.operator) ? "arithmetic over variables can run commands" : null;
    case "Assignment":
      return node.index === undefined || isPlainIndex(node.index.text) ? null : "an index can run commands";
    case "For":
      return isLocalName(node.name.value) ? null : `sets ${node.name.value} for what follows`;
    default:
      return null;
  }
}

type Parameter = Extract<SyntaxNode, { type: "ParameterExpansion" }>;

function parameterProblem({ prefix, index, operation, parameter }: Parameter): string | null {
  if (prefix === "!") return "the name of a variable is not known before it runs";
  if (index !== undefined && !isPlainIndex(index.text)) return "an index can run commands";
  switch (operation?.type) {
    case "Slice":
    case "Transform":
    case "Unknown":
      return "an expansion can run commands";
    case "Default":
      return operation.operator.endsWith("=") && !isLocalName(parameter) ? `sets ${parameter} for what follows` : null;
    default:
      return null;
  }
}

const isPlainIndex = (text: string): boolean => /^(\d+|[@*])$/.test(text);

/** Numbers alone: a variable in arithmetic is evaluated in its turn, and an index in there runs commands. */
function isPlainSum(node: SyntaxNode): boolean {
  if (node.type === "ArithmeticWord") return /^\d+$/.test(node.value);
  if (node.type === "ArithmeticCommandExpansion") return false;
  let isPlain = true;
  let count = 0;
  forEachChild(node, (child) => {
    count += 1;
    isPlain &&= isPlainSum(child);
  });
  return isPlain && count > 0;
}

/** Whether a plain `sh` reads it as bash does. */
function isPosix(node: SyntaxNode, source: string): boolean {
  switch (node.type) {
    case "AnsiCQuoted":
    case "LocaleString":
    case "ProcessSubstitution":
    case "TestCommand":
    case "HereString":
    case "ExtendedGlob":
    case "BraceExpansion":
    case "ArrayValue":
    case "ArithmeticCommand":
    case "ArithmeticFor":
    case "FileDescriptorVariable":
    case "Select":
    case "Coproc":
    case "Time":
      return false;
    case "Redirect":
      return (
        /^(>|>>|<|<>|>\||<&)$/.test(node.operator) ||
        (node.operator === ">&" && /^(\d+|-)$/.test(node.target?.text ?? ""))
      );
    case "Pipeline":
      return !node.operators.includes("|&");
    case "Function":
      return !/^function\b/.test(source.slice(node.pos));
    case "Assignment":
      return node.append !== true && node.index === undefined;
    case "CaseItem":
      return node.terminator === undefined || node.terminator === ";;";
    case "ArithmeticExpansion":
      return node.text.startsWith("$((");
    case "ParameterExpansion":
      return node.prefix !== "!" && node.index === undefined && /^(Default|Remove)?$/.test(node.operation?.type ?? "");
    default:
      return true;
  }
}
