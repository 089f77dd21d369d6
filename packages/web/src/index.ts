/** What tests and benches of other rooms may use of the page: its pure parts. */
export { type ShownBlock, showBlock } from "./markdown/html.ts";
export { emptySplit, type MarkdownBlock, type SplitState, splitMore, splitWhole } from "./markdown/split.ts";
export { type CallFacts, plainSummary, type Summary, summarise } from "./tools/summary.ts";
