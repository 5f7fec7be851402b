import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'

/** Settings of vectors: the section `memory.embeddings` when it names a model. */
export interface EmbeddingSettings {
  upstream: string
  model: string
  timeout_ms: number
  document_prefix: string
  query_prefix: string
  min_similarity: number
}

/** Calls `/v1/embeddings` of an upstream, recorded and billed. */
export type AskForVectors = (
  of: Pick<EmbeddingSettings, 'upstream' | 'model'> & { input: readonly string[] },
  context: CallContext,
) => Promise<{ status: number; body: unknown }>

/** Creates vectors of texts. */
export interface Embedder {
  /** Identifies vectors that can be compared if their lengths match: upstream, model and document prefix. */
  source: string
  /**
   * @returns a vector for each text, all of one length
   * @throws GazewayError `upstream_bad_reply`, with the upstream's status when it refused; and the errors of the call
   *   itself
   */
  embed(texts: readonly string[], context: CallContext): Promise<Float32Array[]>
}

/** https://platform.openai.com/docs/api-reference/embeddings/object */
const Reply = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()).min(1).max(8192) })),
})

/** Creates an embedder with the upstream and model of `settings`. */
export function createEmbedder(settings: EmbeddingSettings, ask: AskForVectors): Embedder {
  const { upstream, model, document_prefix } = settings
  const before = createHash('sha256').update(document_prefix).digest('hex').slice(0, 8)
  return {
    source: `${upstream}/${model}#${before}`,
    async embed(texts, context) {
      const { status, body } = await ask({ upstream, model, input: texts }, context)
      const fault = (why: string) =>
        new GazewayError('upstream_bad_reply', `${upstream}/${model}: ${why} Check memory.embeddings.`, { status: 502 })
      if (status !== 200) throw Object.assign(fault(`/v1/embeddings answered ${status}.`), { upstreamStatus: status })
      const reply = Reply.safeParse(body)
      if (!reply.success) throw fault('its reply is not a list of embeddings.')
      const vectors = inOrder(reply.data.data).map(({ embedding }) => Float32Array.from(embedding))
      const [first] = vectors
      if (vectors.length !== texts.length || vectors.some((vector) => vector.length !== first?.length))
        throw fault(
          `it returned ${vectors.length} embeddings for ${texts.length} texts, or embeddings of different lengths.`,
        )
      return vectors
    },
  }
}

const inOrder = <T extends { index?: number | undefined }>(data: readonly T[]): T[] =>
  [...data].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
