/** Makes a failing input smaller as long as it fails. */
import type { FuzzInput } from "./fuzz-input.ts";

/** Attempts at most; each asks the server once more. */
const attemptsMax = 200;

export async function smaller(input: FuzzInput, fails: (candidate: FuzzInput) => Promise<boolean>): Promise<FuzzInput> {
  let left = attemptsMax;
  const stillFails = async (candidate: FuzzInput): Promise<boolean> => left-- > 0 && (await fails(candidate));
  switch (input.kind) {
    case "rest": {
      const headers = await shorter(Object.entries(input.headers), (some) =>
        stillFails({ ...input, headers: Object.fromEntries(some) }),
      );
      const fewer = { ...input, headers: Object.fromEntries(headers) };
      const body = await shorter([...input.body], (some) => stillFails({ ...fewer, body: some.join("") }));
      return { ...fewer, body: body.join("") };
    }
    case "frames": {
      const frames = await shorter(input.frames, (some) => stillFails({ ...input, frames: some }));
      const [only, ...others] = frames;
      if (only === undefined || others.length > 0) return { ...input, frames };
      const text = await shorter([...only], (some) => stillFails({ ...input, frames: [some.join("")] }));
      return { ...input, frames: [text.join("")] };
    }
    case "raw": {
      const bytes = await shorter([...input.bytes], (some) => stillFails({ ...input, bytes: some.join("") }));
      return { ...input, bytes: bytes.join("") };
    }
  }
}

/** Leaves out runs of elements, long ones first, as long as what is left fails. */
async function shorter<T>(all: readonly T[], fails: (some: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let kept = all;
  for (let run = Math.ceil(kept.length / 2); run >= 1; run = run === 1 ? 0 : Math.ceil(run / 2)) {
    for (let at = 0; at < kept.length; ) {
      const some = [...kept.slice(0, at), ...kept.slice(at + run)];
      if (await fails(some)) kept = some;
      else at += run;
    }
  }
  return kept;
}
