import type { JsonObject } from "../json.ts";
import type { Vendor } from "./vendor.ts";

const GENERATES = ["generateContent", "countTokens"];

export function modelList(ids: readonly string[], vendor: Vendor): JsonObject {
  if (vendor === "google") {
    return {
      models: ids.map((id) => ({ name: `models/${id}`, displayName: id, supportedGenerationMethods: GENERATES })),
    };
  }
  if (vendor === "openrouter") return { data: ids.map((id) => ({ id, name: id, created: 0 })) };
  if (vendor !== "anthropic") {
    return { object: "list", data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: "fake" })) };
  }
  const data = ids.map((id) => ({ type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" }));
  return { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
}

export function ollamaTags(ids: readonly string[]): JsonObject {
  return {
    models: ids.map((id) => ({ name: id, model: id, modified_at: "1970-01-01T00:00:00Z", size: 0, digest: "" })),
  };
}
