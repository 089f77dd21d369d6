/** REST with the bearer token of the home, every answer read through the schema that the product publishes. */
import type {
  Accepted,
  AnswerBody,
  ChunkId,
  ContextBody,
  HeadBody,
  LedgerBody,
  LedgerStep,
  LogChunk,
  MessageBody,
  NewTabBody,
  Preview,
  SentRequestBody,
  TabId,
  TabPatch,
  TabRecord,
  UsageBody,
} from "@varve/protocol";
import {
  acceptedSchema,
  chunkIdSchema,
  contextBodySchema,
  headBodySchema,
  ledgerBodySchema,
  pageSchema,
  previewBodySchema,
  sentRequestBodySchema,
  tabRecordSchema,
  usageBodySchema,
} from "@varve/protocol/schema";
import { z } from "zod";

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
});

export interface RawAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The code of an error answer, else "". */
  readonly code: string;
  /** Its sentence. */
  readonly message: string;
}

/** Counted over all servers of a test: one that is started again still knows the ids from before. */
let idsMade = 0;

export class Api {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** Any request; the body is sent as it is if it is a string, else as JSON. */
  async ask(method: string, path: string, body?: unknown): Promise<RawAnswer> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${this.url}/api${path}`, { method, headers, body: text });
    const answer: unknown = await response.json();
    const error = errorSchema.safeParse(answer).data?.error;
    return { status: response.status, body: answer, code: error?.code ?? "", message: error?.message ?? "" };
  }

  async #good<S extends z.ZodType>(schema: S, answer: Promise<RawAnswer>): Promise<z.output<S>> {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`the server answered ${status}: ${JSON.stringify(body)}`);
    return schema.parse(body);
  }

  newTab(body: Omit<NewTabBody, "id">): Promise<TabRecord> {
    return this.#good(tabRecordSchema, this.ask("POST", "/tabs", body));
  }
  tab(tab: TabId): Promise<TabRecord> {
    return this.#good(tabRecordSchema, this.ask("GET", `/tabs/${tab}`));
  }
  async tabs(): Promise<readonly TabRecord[]> {
    return (await this.#good(z.object({ tabs: z.array(tabRecordSchema) }), this.ask("GET", "/tabs"))).tabs;
  }
  head(tab: TabId): Promise<HeadBody> {
    return this.#good(headBodySchema, this.ask("GET", `/tabs/${tab}/head`));
  }

  /** A message under an id of its own, unless one is given. */
  send(tab: TabId, text: string, more: Partial<MessageBody> = {}): Promise<Accepted> {
    const id = more.id ?? this.newId();
    return this.#good(acceptedSchema, this.ask("POST", `/tabs/${tab}/messages`, { ...more, id, text }));
  }
  newId(): ChunkId {
    return chunkIdSchema.parse(`m-${process.pid}-${++idsMade}`);
  }
  stop(tab: TabId): Promise<{ readonly stopped: boolean }> {
    return this.#good(z.object({ stopped: z.boolean() }), this.ask("POST", `/tabs/${tab}/stop`, {}));
  }
  async answer(tab: TabId, body: AnswerBody): Promise<void> {
    await this.#good(z.unknown(), this.ask("POST", `/tabs/${tab}/answers`, body));
  }

  patch(tab: TabId, body: TabPatch): Promise<TabRecord> {
    return this.#good(tabRecordSchema, this.ask("PATCH", `/tabs/${tab}`, body));
  }
  fork(tab: TabId, seq: number): Promise<TabRecord> {
    return this.#good(tabRecordSchema, this.ask("POST", `/tabs/${tab}/fork`, { seq }));
  }
  /** Into the trash; a second time: for good. */
  async remove(tab: TabId): Promise<void> {
    await this.#good(z.unknown(), this.ask("DELETE", `/tabs/${tab}`));
  }
  async set(settings: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#good(z.unknown(), this.ask("PATCH", "/settings", settings));
  }

  ledger(tab: TabId, query = ""): Promise<LedgerBody> {
    return this.#good(ledgerBodySchema, this.ask("GET", `/tabs/${tab}/ledger${query}`));
  }
  /** Every step of the tab's log, oldest first, read page by page. */
  async steps(tab: TabId): Promise<readonly LedgerStep[]> {
    const steps: LedgerStep[] = [];
    for (;;) {
      const before = steps.at(-1)?.usageSeq;
      const page = await this.ledger(tab, `?limit=7${before === undefined ? "" : `&before=${before}`}`);
      steps.push(...page.steps);
      if (!page.more) return steps.reverse();
    }
  }
  usage(): Promise<UsageBody> {
    return this.#good(usageBodySchema, this.ask("GET", "/usage"));
  }
  context(tab: TabId): Promise<ContextBody> {
    return this.#good(contextBodySchema, this.ask("GET", `/tabs/${tab}/context`));
  }
  apply(tab: TabId, apply: "tell" | "rebuild"): Promise<ContextBody> {
    return this.#good(contextBodySchema, this.ask("POST", `/tabs/${tab}/context`, { apply }));
  }
  async preview(tab: TabId, query: Readonly<Record<string, string>>): Promise<Preview> {
    const path = `/tabs/${tab}/preview?${new URLSearchParams(query)}`;
    return (await this.#good(previewBodySchema, this.ask("GET", path))).preview;
  }
  async compact(tab: TabId): Promise<string> {
    const asked = this.ask("POST", `/tabs/${tab}/compact`, {});
    return (await this.#good(z.object({ state: z.string() }), asked)).state;
  }
  undoCompaction(tab: TabId, seq: number): Promise<ContextBody> {
    return this.#good(contextBodySchema, this.ask("POST", `/tabs/${tab}/compact/undo`, { seq }));
  }
  sentRequest(tab: TabId, seq: number): Promise<SentRequestBody> {
    return this.#good(sentRequestBodySchema, this.ask("GET", `/tabs/${tab}/requests/${seq}?from=0`));
  }

  /** Every row of the tab's log, read page by page. */
  async rows(tab: TabId): Promise<readonly LogChunk[]> {
    const rows: LogChunk[] = [];
    for (;;) {
      const after = rows.at(-1)?.seq ?? 0;
      const page = await this.#good(pageSchema, this.ask("GET", `/tabs/${tab}/chunks?after=${after}&limit=500`));
      rows.push(...page.chunks);
      if (page.chunks.length === 0 || rows.length >= page.tail) return rows;
    }
  }
}
