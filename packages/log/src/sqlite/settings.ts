import type { Fault } from "@varve/protocol";
import type { KeyEntry } from "../log.ts";
import { plainText } from "../well-formed.ts";
import { keyIn, text } from "./decode.ts";
import type { Store } from "./store.ts";
import { kept } from "./transaction.ts";

export function readSetting(store: Store, key: string): string | null {
  const row = store.sql.setting.get(key);
  return row === undefined ? null : text(row, "value");
}

export const readSettings = (store: Store): Readonly<Record<string, string>> =>
  Object.fromEntries(store.sql.settings.all().map((row) => [text(row, "key"), text(row, "value")]));

export function putSetting(store: Store, key: string, value: string | null): Fault | null {
  return store.transactions.write(() => {
    if (value === null) store.sql.removeSetting.run(key);
    else store.sql.putSetting.run(plainText(key), plainText(value));
    return kept(null);
  });
}

export const readKeys = (store: Store): readonly KeyEntry[] => store.sql.keys.all().map(keyIn);

export function putKey(store: Store, entry: KeyEntry): Fault | null {
  const { keyId, provider, secret, baseUrl, importedAt, updatedAt } = entry;
  return store.transactions.write(() => {
    store.sql.putKey.run(plainText(keyId), plainText(provider), plainText(secret ?? ""), importedAt, updatedAt);
    if (baseUrl === null) store.sql.removeKeyAddress.run(keyId);
    else store.sql.putKeyAddress.run(plainText(keyId), plainText(baseUrl));
    return kept(null);
  });
}

export function removeKey(store: Store, keyId: string): Fault | null {
  return store.transactions.write(() => {
    store.sql.removeKey.run(keyId);
    store.sql.removeKeyAddress.run(keyId);
    return kept(null);
  });
}
