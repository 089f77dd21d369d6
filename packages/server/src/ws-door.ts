/** WebSocket at `/api/ws`: the gate decides at the upgrade, `ConnectionDoor` does the rest. */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type Fault, fault, isFault, limits } from "@varve/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { admitSocket, type GatePorts, type Knock, type Visitor } from "./auth/gate.ts";
import { ConnectionDoor, closeCodes, type DoorPorts } from "./connection-door.ts";
import { refuseRaw } from "./raw-answer.ts";
import { SocketFrames } from "./socket-frame.ts";

/** Connections at once; one more is refused. */
const connectionsMax = 1_000;
/** Commands of one connection in the works; with more, nothing more is read from it until some are done. */
const commandsMax = 64;
/** A client that does not answer the closing handshake is cut off after this long. */
const closingMs = 5_000;

export interface WsDoor {
  count(): number;
  /** Ends the connections of a device or a named token that was signed out. */
  endHolder(id: string): void;
  /** Says bye and closes every connection. */
  close(): void;
}

export function openWsDoor(server: Server, ports: DoorPorts & { readonly gate: GatePorts }): WsDoor {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: limits.commandBytesMax,
    // No protocol is spoken below ours, and nothing that a caller offers there is told back.
    handleProtocols: () => false,
  });
  // A handshake that is none is refused like everything else, not by a text of the library's.
  sockets.on("wsClientError", (error, duplex) => refuseRaw(duplex, notSocket(error)));
  const doors = new Set<ConnectionDoor>();
  server.on("upgrade", (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const visitor = request.url?.split("?", 1)[0] === "/api/ws" ? admitSocket(knockOf(request), ports.gate) : null;
    if (visitor === null)
      return refuseRaw(duplex, { code: "unknown-route", message: "There is no socket at this address." });
    if (isFault(visitor)) return refuseRaw(duplex, visitor);
    if (doors.size >= connectionsMax)
      return refuseRaw(duplex, { code: "shutting-down", message: "Too many connections." });
    sockets.handleUpgrade(request, duplex, head, (socket) => serve(socket, duplex, visitor));
  });

  const frames = new SocketFrames();

  function serve(socket: WebSocket, duplex: Duplex, visitor: Visitor): void {
    let inWork = 0;
    const drained = (): void => door.drained();
    const door = new ConnectionDoor(
      {
        send: (text) => {
          // Behind a closing handshake nothing more may be said. Nothing is compressed, so that no message waits inside `socket`
          // and what is written here stays in order with what it writes itself.
          if (socket.readyState === socket.OPEN) duplex.write(frames.of(text), drained);
        },
        buffered: () => socket.bufferedAmount,
        close: (code, reason) => {
          socket.close(code, reason);
          const cut = ports.clock.setTimer(closingMs, () => socket.terminate());
          socket.once("close", () => cut.cancel());
        },
      },
      visitor,
      ports,
    );
    doors.add(door);
    socket.on("message", (data, binary) => {
      if (binary) return door.end(closeCodes.protocol, "text only");
      if (++inWork >= commandsMax) socket.pause();
      void door.received(data.toString()).finally(() => {
        if (--inWork < commandsMax && socket.isPaused) socket.resume();
      });
    });
    socket.on("close", () => {
      doors.delete(door);
      door.closed();
    });
    // The close event follows; there is nothing else to do about a broken socket.
    socket.on("error", () => socket.terminate());
  }

  return {
    count: () => doors.size,
    endHolder(id) {
      for (const door of doors) if (door.isOf(id)) door.end(closeCodes.unauthorized, "unauthorized");
    },
    close() {
      for (const door of doors) door.end(closeCodes.later, "shutting-down");
      sockets.close();
    },
  };
}

const notSocket = (error: Error): Fault => fault("bad-request", `This is no handshake of a socket: ${error.message}.`);

function knockOf(request: IncomingMessage): Knock {
  // All values of a name: of two Host headers the first one alone must not decide.
  const header = (name: string): string | undefined =>
    request.headersDistinct[name]?.join(name === "cookie" ? "; " : ", ");
  return { method: "GET", peer: request.socket.remoteAddress, header };
}
