import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { RESPONSES_LIMIT } from '../api/answer-limit.ts'
import type { ChatRequest } from '../api/requests.ts'
import type { Takes } from './accepted-forms.ts'
import { chatSettings } from './gemini-config.ts'
import { chatTools } from './gemini-tools.ts'
import { toChatMessages } from './gemini-turns.ts'
import { type Note, noteUnread, UNNOTED } from './reported-changes.ts'
import { unsupported } from './request-reader.ts'
import { type Thoughts, UNOPENED } from './thinking-blocks.ts'

/** Fields that are converted, refused, or say how the answer is delivered. */
const READ: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'n', RESPONSES_LIMIT],
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'cachedContent'],
])

/**
 * Converts a Gemini request to the equivalent chat request. Thinking settings become the reasoning effort where the model
 * is known to take one. Settings of safety, labels and other hints are dropped.
 *
 * @param request with the names of Google's reference (`namedAsDocumented`)
 * @param note notes what was dropped
 * @param thoughts.open opens the reasoning state that signatures bring back; others are dropped
 * @param thoughts.kept finds the state of answers that came without signatures, by their first call in chat
 * @param model id at the upstream
 * @param takes forms beyond the common one that the upstream takes
 * @throws GazewayError `invalid_request` naming what chat completions cannot express, and why
 */
export function toChatFromGemini(
  request: Fields,
  note: Note = UNNOTED,
  thoughts: Omit<Thoughts, 'note'> = { open: UNOPENED },
  model = '',
  { fileUrls = false }: Takes = {},
): ChatRequest {
  noteUnread(request, READ, note)
  if ((request.cachedContent ?? null) !== null)
    throw unsupported('cachedContent', 'this upstream does not have what is cached at Google; send it in contents')
  const chat: Fields = {
    messages: toChatMessages(request, { ...thoughts, note, takesUrls: fileUrls }),
    ...chatSettings(request, model, note),
    ...chatTools(request, note),
  }
  return present(chat) as unknown as ChatRequest
}
