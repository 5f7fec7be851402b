/** The result of a tool call. */
export interface Answer {
  /** The text meant for a reader. */
  text: string
  failed: boolean
}

/** One way into Gazeway, opened for the demonstration. */
export interface Surface {
  /** Short description of the process and its protocol. */
  about: string
  /** The tools that it offers. */
  tools: readonly string[]
  call(tool: string, input: Record<string, unknown>): Promise<Answer>
  /** Ends it; what it wrote to its data folder may then be removed. */
  close(): Promise<void>
}
