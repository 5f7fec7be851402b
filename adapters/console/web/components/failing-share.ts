/** Share of failed calls from which an upstream counts as failing. */
export const FAILING_SHARE = 0.5
