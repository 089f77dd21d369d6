import type { Delivery } from "@varve/protocol";

export const deliveries: readonly { readonly value: Delivery; readonly label: string; readonly long: string }[] = [
  { value: "steer", label: "Steer", long: "joins at the next step" },
  { value: "queue", label: "Queue", long: "after this turn" },
  { value: "stop", label: "Stop & send", long: "stops this turn now" },
];
