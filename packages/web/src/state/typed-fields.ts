/**
 * Fields with typed text that nothing keeps over a reload: a key, a price, a name. Such text holds back a reload that the
 * person did not ask for. Fields whose text is kept carry `data-kept`.
 */
type Field = HTMLInputElement | HTMLTextAreaElement;

const NOT_TEXT: ReadonlySet<string> = new Set(["checkbox", "radio", "file", "button", "submit", "range", "color"]);

export class TypedFields {
  readonly #touched = new Set<Field>();

  constructor(page: Document) {
    page.addEventListener("input", (event) => this.#note(event.target), { capture: true });
  }

  /** Fields that are gone or empty by now hold nothing back. */
  get any(): boolean {
    for (const field of this.#touched) if (!field.isConnected || field.value.trim() === "") this.#touched.delete(field);
    return this.#touched.size > 0;
  }

  #note(target: EventTarget | null): void {
    const isField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
    if (isField && !NOT_TEXT.has(target.type) && target.dataset.kept === undefined) this.#touched.add(target);
  }
}
