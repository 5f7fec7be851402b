import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'

/** Facts of a model in an upstream's list, besides limits and prices. Absent where the list does not say. */
export interface ListedFacts {
  /** Name for people. */
  name?: string
  /** Kinds of input that it takes: `text`, `image`, `audio`, … */
  inputs?: readonly string[]
  /** Kinds of output that it makes. */
  outputs?: readonly string[]
  /** Fields of a chat request that it takes, by OpenAI's names. */
  parameters?: readonly string[]
}

/**
 * Reads the facts in a list of models:
 * - OpenRouter: `name`, `architecture`, `supported_parameters` (https://openrouter.ai/docs/api-reference/list-available-models)
 * - Anthropic: `display_name`, `capabilities.image_input` (https://platform.claude.com/docs/en/api/models/list)
 * - Mistral: `name`, `capabilities.vision` (https://docs.mistral.ai/api/#tag/models)
 */
export function readListedFacts(body: unknown): ReadonlyMap<string, ListedFacts> {
  const entries = Array.isArray(body) ? body : fieldsOrNone(body).data
  const facts = new Map<string, ListedFacts>()
  for (const entry of objectsOrNone(entries)) {
    const { input_modalities, output_modalities } = fieldsOrNone(entry.architecture)
    facts.set(
      String(entry.id),
      present<Record<keyof ListedFacts, unknown>>({
        name: [entry.display_name, entry.name].find((name) => typeof name === 'string' && name !== ''),
        inputs: texts(input_modalities) ?? inputsOf(fieldsOrNone(entry.capabilities)),
        outputs: texts(output_modalities),
        parameters: texts(entry.supported_parameters),
      }) as ListedFacts,
    )
  }
  return facts
}

/** Kinds of input by capabilities: whether a model sees images is all that they tell. */
function inputsOf({ vision, image_input }: Record<string, unknown>): string[] | undefined {
  const sees = typeof vision === 'boolean' ? vision : fieldsOrNone(image_input).supported
  if (typeof sees !== 'boolean') return undefined
  return sees ? ['text', 'image'] : ['text']
}

/** A list of texts. Undefined for anything else, and an empty one, which tells nothing. */
function texts(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const found = value.filter((one): one is string => typeof one === 'string')
  return found.length > 0 ? found : undefined
}
