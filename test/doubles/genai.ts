type Fields = Record<string, unknown>

/** A part of an answer, as far as tests read it. */
export interface GenaiPart {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  functionCall?: { id?: string; name: string; args: Fields }
}

/** A reply of `@google/genai`. */
export interface GenaiReply {
  text?: string
  functionCalls?: { id?: string; name: string; args: Fields }[]
  candidates?: { content: { role: string; parts: GenaiPart[] }; finishReason?: string; index: number }[]
  usageMetadata?: Record<string, number>
  modelVersion?: string
  responseId?: string
}

/** Methods of `@google/genai` that tests call. */
export interface Genai {
  models: {
    generateContent(asked: Fields): Promise<GenaiReply>
    generateContentStream(asked: Fields): Promise<AsyncIterable<GenaiReply>>
    countTokens(asked: Fields): Promise<{ totalTokens: number }>
    list(asked?: Fields): Promise<AsyncIterable<{ name: string }>>
    get(asked: { model: string }): Promise<{ name: string; displayName?: string }>
  }
}

/** A client of Google's SDK. Its types, of 17,000 lines, are not read. */
export async function connectGenai({ url, key }: { url: string; key: string }): Promise<Genai> {
  const name: string = '@google/genai'
  const { GoogleGenAI } = await import(name)
  return new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
}

/** All pieces of a streamed reply. */
export async function piecesOf(stream: AsyncIterable<GenaiReply>): Promise<GenaiReply[]> {
  const pieces: GenaiReply[] = []
  for await (const piece of stream) pieces.push(piece)
  return pieces
}

export const partsOf = (pieces: readonly GenaiReply[]): GenaiPart[] =>
  pieces.flatMap(({ candidates }) => candidates?.[0]?.content.parts ?? [])
