/** Recordings of other tools on this machine, and what they cost. */
import { type Fault, fault } from "@varve/protocol";
import { billBodySchema, recordingSchema } from "@varve/protocol/schema";
import { z } from "zod";
import { Mailbox } from "../workspace/mailbox.ts";
import { okOr, type Route, reply, route } from "./route.ts";

/** Bills that wait to be read; one more is refused. They are read one at a time, for a recording may be very large. */
const readingsMax = 8;

export const recordingRoutes = (userHome: string): readonly Route[] => {
  const readings = new Mailbox();
  return [
    route({
      method: "GET",
      path: "/recordings",
      summary: "Recordings that pi and Claude Code left in their usual places, the newest first.",
      answers: { status: 200, schema: z.object({ recordings: z.array(recordingSchema) }) },
      run: async () => {
        const { findRecordings } = await import("../recording/find.ts");
        return reply(200, { recordings: await findRecordings({ home: userHome }) });
      },
    }),
    route({
      method: "GET",
      path: "/recordings/:id/bill",
      summary: "What a recording cost, how much of that was prefix written again, and why.",
      answers: { status: 200, schema: billBodySchema },
      run: async ({ params }) => {
        if (readings.load >= readingsMax) return busy();
        return readings.run(async () => okOr(await billOf(userHome, params.id ?? "")));
      },
    }),
  ];
};

async function billOf(home: string, id: string) {
  const [{ recordingPath }, { readBill }] = await Promise.all([
    import("../recording/find.ts"),
    import("../recording/read-bill.ts"),
  ]);
  const path = await recordingPath({ home }, id);
  return path === null ? unknown() : readBill(path);
}

const unknown = (): Fault =>
  fault("unknown-recording", "There is no such recording.", "It may have been moved; reload the list.");
const busy = (): Fault => fault("queue-full", "Other recordings are being read.", "Try again in a moment.");
