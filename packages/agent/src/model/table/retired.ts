/**
 * Models that no list carries any more but old recordings name: rows like the generated ones, prices of the time when they
 * were last sold.
 */
import type { TableRow } from "./row.ts";

const sonnet: TableRow = [200_000, 64_000, 3, 15, 0.3, 3.75];
const opus: TableRow = [200_000, 32_000, 15, 75, 1.5, 18.75];
const haiku35: TableRow = [200_000, 8_192, 0.8, 4, 0.08, 1];
const codex: TableRow = [400_000, 128_000, 1.25, 10, 0.125, null];

export const retiredModels: Readonly<Record<string, Readonly<Record<string, TableRow>>>> = {
  anthropic: {
    "claude-opus-4-1": opus,
    "claude-opus-4": opus,
    "claude-opus-4-0": opus,
    "claude-3-opus": opus,
    "claude-sonnet-4": sonnet,
    "claude-sonnet-4-0": sonnet,
    "claude-3-7-sonnet": sonnet,
    "claude-3-5-sonnet": sonnet,
    "claude-3-5-haiku": haiku35,
  },
  openai: {
    "gpt-5-codex": codex,
    "gpt-5.1-codex": codex,
    "gpt-5.1-codex-max": codex,
    "gpt-5.1-codex-mini": [400_000, 128_000, 0.25, 2, 0.025, null],
    "gpt-5.2-codex": [400_000, 128_000, 1.75, 14, 0.175, null],
  },
};
