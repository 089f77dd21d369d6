/** The name of this home's server: part of the cookie's name, since cookies are shared by all servers of a host. */
import type { Log } from "@varve/log";
import { type Fault, isFault, type RandomBytes } from "@varve/protocol";

const settingKey = "server.instance";

export async function instanceId(
  log: Pick<Log, "setting" | "putSetting">,
  random: RandomBytes,
): Promise<string | Fault> {
  const kept = await log.setting(settingKey);
  if (kept !== null && /^[0-9a-f]{12}$/.test(kept)) return kept;
  const bytes = new Uint8Array(6);
  random(bytes);
  const made = Buffer.from(bytes).toString("hex");
  const problem = await log.putSetting(settingKey, made);
  return isFault(problem) ? problem : made;
}
