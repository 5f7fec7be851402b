/** The most tokens of a tool's reply: more is what assistants cut off themselves, or write to a file. */
export const MOST_TOKENS = 25_000

/** The most bytes of a list's items on a page: few of them have less than two bytes a token. */
export const MOST_PAGE_BYTES = 45_000
