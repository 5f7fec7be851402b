/** Maximum size of a tool's reply, in tokens. Assistants cut longer replies off, or write them to a file. */
export const MAX_TOKENS = 25_000

/**
 * Maximum size of a tool's reply, in characters: Claude Code shows its model so many of the tools that have large ones. Text of
 * {@link MAX_TOKENS} rarely has more; long runs of spaces or of one sign do.
 */
export const MAX_CHARACTERS = 150_000

/** Maximum size of a list's items on one page, in bytes. Few items have less than two bytes per token. */
export const MAX_PAGE_BYTES = 45_000
