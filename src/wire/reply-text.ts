/**
 * Reads the text of a reply.
 *
 * @param most size limit in bytes, after decompression
 * @returns null for a larger reply, whose rest is not read
 */
export async function replyText(reply: Response, most: number): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of reply.body ?? []) {
    size += chunk.length
    if (size > most) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
