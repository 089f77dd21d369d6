/** Which hosts sandboxed commands may reach. Pure. */

export interface HostRule {
  /** Lower case; "*." in front stands for every name below. */
  readonly name: string;
  /** Null: any port. */
  readonly port: number | null;
}

const nameOrAddress = /^(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const bracketed = /^\[[0-9a-f:.]{2,45}\]$/;

/** `name`, `*.name`, `address` or `[address]`, each with or without `:port`. Null for anything else, also for `*` alone. */
export function parseHostRule(text: string): HostRule | null {
  const parts = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text.toLowerCase());
  const [, name = "", port] = parts ?? [];
  if (!nameOrAddress.test(name) && !bracketed.test(name)) return null;
  if (name.includes("..")) return null;
  const number = port === undefined ? null : Number(port);
  if (number !== null && (number < 1 || number > 65_535)) return null;
  return { name: name.replace(/^\[|\]$/g, ""), port: number };
}

export type HostVerdict =
  /** `named`: by exactly this name, so that its address may be a private one. */
  { readonly allowed: true; readonly named: boolean } | { readonly allowed: false };

export function judgeHost(rules: readonly HostRule[], host: string, port: number): HostVerdict {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  const fitting = rules.filter((rule) => (rule.port === null || rule.port === port) && fits(rule.name, name));
  if (fitting.length === 0) return { allowed: false };
  return { allowed: true, named: fitting.some((rule) => rule.name === name) };
}

const fits = (rule: string, name: string): boolean =>
  rule.startsWith("*.") ? name.endsWith(rule.slice(1)) && name.length > rule.length - 1 : rule === name;
