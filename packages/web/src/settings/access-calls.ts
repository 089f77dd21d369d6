/** Devices, links for further ones, and named tokens: the routes that the settings alone use. */
import type { Api } from "../api/api.ts";
import type { Result } from "../api/http.ts";

export interface Device {
  readonly id: string;
  /** What the browser calls itself, or the name that a person gave it. */
  readonly label: string;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number;
  /** The one that asks. */
  readonly current: boolean;
}
export interface SignInLink {
  /** Under the address that this page was called by. */
  readonly url: string;
  /** The same link under addresses that other machines may reach. */
  readonly others: readonly string[];
  readonly endsAt: number;
}
export interface NamedToken {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly usedAt: number | null;
  readonly expiresAt: number | null;
}
export interface NewToken {
  readonly token: NamedToken;
  /** Told this once. */
  readonly secret: string;
}

export async function readDevices(api: Api): Promise<Result<readonly Device[]>> {
  const result = await api.ask<{ readonly devices: readonly Device[] }>("GET", "/devices");
  return result.ok ? { ok: true, body: result.body.devices } : result;
}
export const renameDevice = (api: Api, id: string, label: string): Promise<Result<unknown>> =>
  api.ask("PATCH", `/devices/${encodeURIComponent(id)}`, { label });
export const signOutDevice = (api: Api, id: string): Promise<Result<unknown>> =>
  api.ask("DELETE", `/devices/${encodeURIComponent(id)}`);
export const makeLink = (api: Api): Promise<Result<SignInLink>> => api.ask("POST", "/links", {});

export async function readTokens(api: Api): Promise<Result<readonly NamedToken[]>> {
  const result = await api.ask<{ readonly tokens: readonly NamedToken[] }>("GET", "/tokens");
  return result.ok ? { ok: true, body: result.body.tokens } : result;
}
export const makeToken = (api: Api, name: string, days: number | null): Promise<Result<NewToken>> =>
  api.ask("POST", "/tokens", { name, ...(days === null ? {} : { days }) });
export const removeToken = (api: Api, id: string): Promise<Result<unknown>> =>
  api.ask("DELETE", `/tokens/${encodeURIComponent(id)}`);
