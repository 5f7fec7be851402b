import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { progressListener } from '../../adapters/stdio/progress.ts'
import { holdTime } from './held-clock.ts'

describe('progress', () => {
  function listen(progressToken?: string) {
    const sent: unknown[] = []
    const notify = async (message: unknown) => void sent.push(message)
    return { sent, listener: progressListener({ _meta: { progressToken }, notify } as never) }
  }

  it('is sent only to a client that asked for it', () => {
    assert.equal(listen().listener, undefined)
  })

  it('is sent at once, then not for each word', () => {
    const { sent, listener } = listen('token')
    for (let n = 0; n < 1000; n++) listener?.onText('word ')
    assert.ok(sent.length < 10, `${sent.length} notifications`)
    assert.deepEqual(sent[0], {
      method: 'notifications/progress',
      params: { progressToken: 'token', progress: 5, message: 'word ' },
    })
  })

  it('shows the newest of a long text, on one line', () => {
    const { sent, listener } = listen('token')
    listener?.onText(`${'x'.repeat(500)}\n\nend`)
    const { progress, message } = (sent[0] as { params: { progress: number; message: string } }).params
    assert.equal(progress, 505)
    assert.match(message, /^x{75} end$/)
  })

  it('reports searches and thoughts, and always grows', (t) => {
    const pass = holdTime(t)
    const { sent, listener } = listen('token')
    for (const tell of [
      () => listener?.onStep('searching the web'),
      () => listener?.onStep('searching the web'),
      () => listener?.onText('So.'),
      () => listener?.onStep('thinking'),
    ]) {
      tell()
      pass(1000)
    }
    assert.deepEqual(
      sent.map((message) => (message as { params: object }).params),
      [
        { progressToken: 'token', progress: 1, message: 'searching the web' },
        { progressToken: 'token', progress: 2, message: 'searching the web' },
        { progressToken: 'token', progress: 5, message: 'So.' },
        { progressToken: 'token', progress: 6, message: 'thinking' },
      ],
    )
  })

  it('shows whole characters, wherever the text is cut or a model pauses', () => {
    const { sent, listener } = listen('token')
    listener?.onText(`${'👋'.repeat(50)}a\ud83d`)
    const { message } = (sent[0] as { params: { message: string } }).params
    assert.equal(message, `${'👋'.repeat(39)}a`)
  })
})
