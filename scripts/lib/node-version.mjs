// Read by old Node versions too, so nothing here may be newer than ES2018.

/** Undefined when `version` ("20.19.0") can run Varve, else one sentence for the person who started it. */
export function nodeTooOld(version) {
  const parts = version.split(".").map(Number);
  const major = parts[0];
  const minor = parts[1];
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  return `Varve needs Node 20.19 or newer, and this is Node ${version}. Install a current one from https://nodejs.org and start again.`;
}
