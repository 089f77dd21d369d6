/**
 * Every text that the fold itself puts on the wire. Each is a constant: a change of one letter changes requests that
 * open tabs have already sent, so a released text is never edited, only replaced under a new fold version.
 */
export const texts = {
  /** Stands where a user's turn must come and no row gives one. */
  continue: "[continue]",
  /** The assistant's side between two user messages, for templates that demand strict alternation. */
  ok: "(ok)",
  /** The result of a call that never got one. */
  missingResult: "[interrupted: no result was recorded]",
  /** A result without any visible character. */
  noOutput: "(no output)",
  /** Stands for an image or file whose bytes are gone. */
  missingBlob: (name: string): string => `[attachment ${name}: its bytes are no longer available]`,
  /** Stands for a file that this kind of model can't be sent. */
  refusedFile: (name: string, mediaType: string): string =>
    `[attachment ${name} (${mediaType}) can't be sent to this model]`,
  textFile: (name: string, content: string): string => `<attachment name="${name}">\n${content}\n</attachment>`,
  resultImages: (toolName: string): string => `[images from the result of ${toolName}]`,
  note: (text: string): string => `<system-note>${text}</system-note>`,
} as const;
