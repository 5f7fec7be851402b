import type { ReplyListener } from '../relay/exchange.ts'

/** Answers the list of models with ids of the configuration. */
export function answerWithModels(ids: readonly string[], listener: ReplyListener): void {
  const data = ids.map((id) => ({ id, object: 'model', created: 0, owned_by: 'cloud' }))
  listener.onHead(200, { 'content-type': 'application/json' })
  listener.onData(Buffer.from(JSON.stringify({ object: 'list', data })))
  listener.onEnd()
}

/** Puts ids of the configuration in place of the list that a cloud gives; none leave its own. */
export function listsInstead(ids: readonly string[], listener: ReplyListener): ReplyListener {
  if (ids.length === 0) return listener
  let isListed = false
  return {
    ...listener,
    onHead(status, headers) {
      isListed = status < 300
      if (!isListed) listener.onHead(status, headers)
    },
    onData(chunk) {
      if (!isListed) listener.onData(chunk)
    },
    onEnd() {
      if (isListed) answerWithModels(ids, listener)
      else listener.onEnd()
    },
  }
}
