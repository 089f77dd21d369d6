/** What a simulation composes a server of, without a process, a socket or a file: the workspace and the door of a connection. */
export { Devices } from "./auth/devices.ts";
export { ConnectionDoor, type DoorPorts, type DoorSocket } from "./connection-door.ts";
export { createWorkspace, type LiveWorkspace, type WorkspaceOptions } from "./workspace/workspace.ts";
