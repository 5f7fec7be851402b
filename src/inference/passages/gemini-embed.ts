import { GazewayError } from '../../errors.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { EMBED_CONTENT } from '../api/gemini-endpoints.ts'
import { contentFields } from '../convert/gemini-request.ts'
import { writeGemini } from './gemini-passage.ts'
import type { Passage } from './passage.ts'
import { verbatimPassage } from './verbatim-passage.ts'

const ROUTE = { method: 'POST', path: EMBED_CONTENT, body: 'json', cost: 'input' } as const

/** Passes texts on to be embedded, one or a list of them, by an upstream that has Google's own API. */
export const embedPassage: Passage = {
  ...verbatimPassage({ route: ROUTE, target: EMBED_CONTENT, formType: null, visible: null }),
  write(writing) {
    const { requests } = writing.request.json
    const ofContent = contentFields(writing.request.json, false)
    if (!Array.isArray(requests)) return writeGemini(writing, 'embedContent', ofContent)
    // Each names the model once more, which must be that of the path.
    const { model } = writing.sent as Fields
    const named = `models/${String(model).replace(/^models\//, '')}`
    const isNamed = objectsOrNone(requests).every((one) => one.model === named)
    return writeGemini(writing, 'batchEmbedContents', (body) => ({
      ...ofContent(body),
      ...(!isNamed && { requests: objectsOrNone(body.requests).map((one) => ({ ...one, model: named })) }),
    }))
  },
}

/** Refuses texts to embed where the upstream does not have Google's own API. */
export const noEmbedPassage: Passage = {
  ...embedPassage,
  convert() {
    throw new GazewayError(
      'not_found',
      'The upstream of this model does not have this method of Google’s API; use POST /v1/embeddings.',
    )
  },
}
