import * as z from 'zod'
import { stemOf } from '../../text/stem.ts'
import { wordsOf } from '../../text/words.ts'
import { LIST_LIMIT } from '../../wire/validation.ts'
import { parseRequest } from './request.ts'
import { jsonReply } from './sandbox-reply.ts'
import { countTokens } from './tokens.ts'

/** Default length of a vector. */
const DIMENSIONS = 256
/** Length of OpenAI's largest embeddings. */
const MAX_DIMENSIONS = 3072

const Tokens = z.array(z.int()).min(1).max(LIST_LIMIT)

/** Request schema, after https://platform.openai.com/docs/api-reference/embeddings/create */
const EmbeddingsRequest = z.looseObject({
  model: z.string().min(1),
  input: z.union([
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(2048),
    Tokens,
    z.array(Tokens).min(1).max(2048),
  ]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).max(MAX_DIMENSIONS).nullish(),
})

/**
 * Embeds texts as bags of their stems. Texts that share words are close to each other, and the same text always gets
 * the same vector. Meaning is not modelled; the reply says `sandbox`.
 */
export function createEmbeddings(body: unknown): Response {
  const { model, input, encoding_format, dimensions } = parseRequest(EmbeddingsRequest, body)
  const inputs = inputsOf(input)
  const data = inputs.map((one, index) => {
    const vector = embed(featuresOf(one), dimensions ?? DIMENSIONS)
    return { object: 'embedding', index, embedding: encoding_format === 'base64' ? toBase64(vector) : [...vector] }
  })
  const prompt_tokens = inputs.reduce<number>(
    (sum, one) => sum + (typeof one === 'string' ? countTokens(one) : one.length),
    0,
  )
  const usage = { prompt_tokens, total_tokens: prompt_tokens }
  return jsonReply({ object: 'list', data, model, usage, system_fingerprint: 'sandbox' })
}

type Input = string | readonly number[]

/** Normalizes the input to a list of texts or token lists. */
function inputsOf(input: z.infer<typeof EmbeddingsRequest>['input']): Input[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as number[]] : (input as Input[])
}

function featuresOf(input: Input): string[] {
  if (typeof input !== 'string') return input.map(String)
  return Array.from(wordsOf(input), ({ text }) => stemOf(text))
}

/** Embeds features in a unit vector: the hash of each selects a component and a sign. */
function embed(features: readonly string[], dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  for (const feature of features) {
    const hash = hashOf(feature)
    const at = (hash >>> 1) % dimensions
    vector[at] = (vector[at] ?? 0) + (hash & 1 ? 1 : -1)
  }
  const length = Math.hypot(...vector)
  return length === 0 ? vector.fill(1 / Math.sqrt(dimensions)) : vector.map((value) => value / length)
}

/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
