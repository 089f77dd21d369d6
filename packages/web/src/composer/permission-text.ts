import type { PermissionMode } from "@varve/protocol";

export const permissionModes: readonly {
  readonly value: PermissionMode;
  readonly label: string;
  readonly long: string;
}[] = [
  { value: "read", label: "Read only", long: "Read only: writes nothing, runs nothing" },
  { value: "ask", label: "Ask first", long: "Ask first: before each write and each command" },
  { value: "edits", label: "Edits allowed", long: "Edits allowed: asks before commands only" },
  { value: "allow", label: "Allow all", long: "Allow all: never asks, for unattended work" },
];
