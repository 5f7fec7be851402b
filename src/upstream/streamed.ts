/** What the client returns for a request with `stream`, before it is awaited. */
interface Asked<Piece> {
  withResponse(): Promise<{ data: AsyncIterable<Piece>; response: Response }>
}

/**
 * The reply to a request with `stream`: its pieces, or the whole of it where the upstream does not stream, as some that
 * are compatible with OpenAI's API do not.
 *
 * @throws SyntaxError when the whole is not valid JSON, else as the `openai` client
 */
export async function streamedReply<Piece, Whole>(
  asked: Asked<Piece>,
): Promise<{ pieces: AsyncIterable<Piece> } | { whole: Whole }> {
  // The client reads the body only once its pieces are asked for.
  const { data, response } = await asked.withResponse()
  const isWhole = /^application\/json\b/i.test(response.headers.get('content-type') ?? '')
  return isWhole ? { whole: (await response.json()) as Whole } : { pieces: data }
}
