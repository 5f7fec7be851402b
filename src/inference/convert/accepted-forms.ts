/** Forms beyond the common one that an upstream of chat completions takes. */
export interface Takes {
  /** Documents by their address. */
  fileUrls?: boolean
  /** Marks for Anthropic's prompt cache. */
  cacheMarks?: boolean
}
