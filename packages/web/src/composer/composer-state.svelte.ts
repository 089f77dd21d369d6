import type { Attachment, Delivery, ErrorBody } from "@varve/protocol";
import { limits } from "@varve/protocol";
import type { Api } from "../api/api.ts";
import type { Drafts } from "../state/drafts.ts";
import type { OpenTab, TextQuestion } from "../state/open-tab.svelte.ts";
import { filesPlace, filesText, parseFiles } from "./kept-files.ts";
import { shrinkImage } from "./shrink-image.ts";

export type Upload = {
  readonly key: number;
  readonly name: string;
  readonly state:
    | { readonly kind: "uploading" }
    | { readonly kind: "failed"; readonly error: ErrorBody }
    | { readonly kind: "ready"; readonly attachment: Attachment };
};

/** Where a typed text goes. */
export type Purpose = { readonly kind: "message" } | { readonly kind: "answer"; readonly question: TextQuestion };

/** What is being written in one tab, and what pressing Enter will do with it. */
export class ComposerState {
  #uploads: readonly Upload[];
  /** Of the next message, while a turn is open. */
  delivery: Delivery = $state("steer");
  /** The person chose to send a message although a question is open. */
  prefersMessage = $state(false);
  error: ErrorBody | null = $state.raw(null);
  #text: string;
  #nextKey = 0;
  #field: HTMLElement | null = null;
  readonly #tab: OpenTab;
  readonly #api: Api;
  readonly #drafts: Drafts;

  constructor(tab: OpenTab, api: Api, drafts: Drafts) {
    this.#tab = tab;
    this.#api = api;
    this.#drafts = drafts;
    this.#text = $state(drafts.read(tab.handle.tabId));
    this.#uploads = $state.raw(
      parseFiles(drafts.read(filesPlace(tab.handle.tabId))).map((attachment) => ({
        key: this.#nextKey++,
        name: attachment.name,
        state: { kind: "ready", attachment },
      })),
    );
  }

  get text(): string {
    return this.#text;
  }
  set text(text: string) {
    this.#text = text;
    this.#drafts.write(this.#tab.handle.tabId, text);
  }

  get uploads(): readonly Upload[] {
    return this.#uploads;
  }
  set uploads(uploads: readonly Upload[]) {
    this.#uploads = uploads;
    this.#drafts.write(filesPlace(this.#tab.handle.tabId), filesText(this.#ready));
  }

  readonly purpose: Purpose = $derived.by(() => {
    const question = this.#tab.textQuestion;
    return question === undefined || this.prefersMessage ? { kind: "message" } : { kind: "answer", question };
  });
  readonly uploading: boolean = $derived(this.uploads.some((upload) => upload.state.kind === "uploading"));
  readonly canSend: boolean = $derived.by(
    () => !this.uploading && (this.#text.trim() !== "" || (this.purpose.kind === "message" && this.#ready.length > 0)),
  );
  get #ready(): readonly Attachment[] {
    return this.uploads.flatMap((upload) => (upload.state.kind === "ready" ? [upload.state.attachment] : []));
  }

  /** The field on screen, so that a suggestion can bring the cursor into it. */
  bindField(field: HTMLElement): () => void {
    this.#field = field;
    return () => {
      if (this.#field === field) this.#field = null;
    };
  }

  focus(): void {
    this.#field?.focus();
  }

  async submit(): Promise<void> {
    if (!this.canSend) return;
    const text = this.#text.trim();
    if (text.length > limits.messageCharsMax) {
      this.error = tooLong(text.length);
      return;
    }
    this.error = null;
    const { purpose } = this;
    if (purpose.kind === "answer") await this.#answer(purpose.question, text);
    else this.#send(text);
  }

  async attach(files: readonly File[]): Promise<void> {
    const room = limits.attachmentsMax - this.uploads.length;
    if (files.length > room) this.error = tooMany;
    await Promise.all(files.slice(0, Math.max(0, room)).map((file) => this.#upload(file)));
  }

  detach(key: number): void {
    this.uploads = this.uploads.filter((upload) => upload.key !== key);
  }

  #send(text: string): void {
    const attachments = this.#ready;
    this.#tab.handle.send({
      text,
      ...(this.#tab.turnOpen ? { delivery: this.delivery } : {}),
      ...(attachments.length > 0 ? { attachments } : {}),
    });
    this.text = "";
    this.uploads = [];
    this.delivery = "steer";
    this.prefersMessage = false;
  }

  /** A text answers a permission question with "no, because". It is kept in the composer until the answer was taken. */
  async #answer(question: TextQuestion, text: string): Promise<void> {
    const answer = question.kind === "permission" ? { verdict: "deny" as const, text } : { text };
    const error = await this.#tab.handle.answer(question.wait.askId, answer);
    this.error = error;
    // What was typed while the answer was on its way is not part of it.
    if (error === null && this.#text.trim() === text) this.text = "";
  }

  async #upload(file: File): Promise<void> {
    const key = this.#nextKey++;
    const place = (state: Upload["state"]): void => {
      this.uploads = this.uploads.map((upload) => (upload.key === key ? { ...upload, state } : upload));
    };
    this.uploads = [...this.uploads, { key, name: file.name, state: { kind: "uploading" } }];
    const result = await this.#api.uploadPrepared(async () => {
      const bytes = await shrinkImage(file);
      return bytes.size > limits.blobBytesMax ? { ok: false, error: tooBig(file.name) } : { ok: true, body: bytes };
    });
    if (!result.ok) place({ kind: "failed", error: result.error });
    else {
      const { blob, mediaType } = result.body;
      place({ kind: "ready", attachment: { blob, mediaType, name: file.name } });
    }
  }
}

const tooLong = (chars: number): ErrorBody => ({
  code: "message-too-large",
  message: `This message has ${chars.toLocaleString()} characters; the limit is ${limits.messageCharsMax.toLocaleString()}.`,
  hint: "It is kept here. Put long text into a file in the workspace and name that file.",
});
const tooMany: ErrorBody = {
  code: "message-too-large",
  message: `A message takes ${limits.attachmentsMax} files; the others were left out.`,
  hint: "Send them with the next message.",
};
const tooBig = (name: string): ErrorBody => ({
  code: "blob-too-large",
  message: `${name} is larger than ${limits.blobBytesMax / 1024 / 1024} MB.`,
});
