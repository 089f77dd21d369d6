import type { JsonObject } from "../json.ts";
import type { Vendor } from "./vendor.ts";

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

const GOOGLE: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  529: "UNAVAILABLE",
};

/** The vendor's word for a failed status. */
export function errorTypeOf(status: number): string {
  return TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** The body of a failed answer in the vendor's shape. */
export function errorBody(vendor: Vendor, errorType: string, message: string): JsonObject {
  if (vendor === "anthropic") return { type: "error", error: { type: errorType, message }, request_id: "req_fake" };
  if (vendor === "google") {
    const code = Number(Object.keys(TYPES).find((status) => TYPES[Number(status)] === errorType) ?? 500);
    return { error: { code, message, status: GOOGLE[code] ?? "INTERNAL" } };
  }
  return { error: { message, type: errorType, param: null, code: null } };
}
