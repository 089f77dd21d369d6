/** What a tab's tools may reach beside its own directory, as a person sets it: further directories, hosts. */
import { parseHostRule } from "@varve/agent";
import { type Fault, fault, isFault, type TabOptionsPatch } from "@varve/protocol";

export interface ReachPorts {
  /** The real path of a directory that may be added, or why it may not. */
  readonly added: (path: string) => Promise<string | Fault>;
}

/** The patch as it is kept: directories by their real paths, each once. A fault names the first that may not be. */
export async function checkedReach(patch: TabOptionsPatch, ports: ReachPorts): Promise<TabOptionsPatch | Fault> {
  const problem = networkProblem(patch.network ?? []);
  if (problem !== null) return problem;
  if (patch.directories === undefined || patch.directories === null) return patch;
  const real = new Set<string>();
  for (const path of patch.directories) {
    const found = await ports.added(path);
    if (isFault(found)) return found;
    real.add(found);
  }
  return { ...patch, directories: [...real] };
}

function networkProblem(hosts: readonly string[]): Fault | null {
  if (hosts.length === 1 && hosts[0] === "*") return null;
  const wrong = hosts.find((host) => parseHostRule(host) === null);
  if (wrong === undefined) return null;
  const hint = 'Name hosts as "name", "*.name" or "name:port"; "*" alone stands for all of them.';
  return fault("bad-request", `options.network: ${JSON.stringify(wrong.slice(0, 80))} is no host.`, hint);
}
