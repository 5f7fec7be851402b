/** Prefix of every sandbox text, so that nobody mistakes it for a model's. */
export const SANDBOX_PREFIX = '[sandbox] '

/** First line of an answer in text. */
export const NO_MODEL = `${SANDBOX_PREFIX}This is no model: it only quotes what you sent.\n`
