/** How every text of the sandbox begins, so that nobody takes it for a model's. */
export const MARK = '[sandbox] '
