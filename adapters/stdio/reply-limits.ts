/** Most tokens of a tool's reply. Assistants cut longer replies off, or write them to a file. */
export const MOST_TOKENS = 25_000

/** Most bytes of a list's items on one page. Few items have less than two bytes per token. */
export const MOST_PAGE_BYTES = 45_000
