/** Prefix of every sandbox text, so that nobody mistakes it for a model's. */
export const MARK = '[sandbox] '
