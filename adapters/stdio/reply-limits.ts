/** Maximum size of a tool's reply, in tokens. Assistants cut longer replies off, or write them to a file. */
export const MAX_TOKENS = 25_000

/** Maximum size of a list's items on one page, in bytes. Few items have less than two bytes per token. */
export const MAX_PAGE_BYTES = 45_000
