import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { addField, changedField, requestBody, rewrittenRequest } from '../../src/inference/relay/request-body.ts'

/** Body that is sent upstream for a request with another model name. */
const textOf = async (text: string) => {
  const changes = () => ({ model: 'real' })
  const json = JSON.parse(text)
  const body = await requestBody({ bytes: Buffer.from(text), text, json }, changes)
  return body.toString()
}

describe('a request that gets a limit', () => {
  for (const [text, sent] of [
    ['{ "model":"m", "seed":9223372036854775807 }', '{ "model":"m", "seed":9223372036854775807,"max_tokens":5 }'],
    [
      '{"model":"m","max_tokens": null, "seed":9223372036854775807}',
      '{"model":"m","max_tokens":5, "seed":9223372036854775807}',
    ],
    ['{"model":"m","max_tokens":5}', '{"model":"m","max_tokens":5}'],
    ['{ }', '{"max_tokens":5 }'],
  ] as const)
    it(`keeps everything else: ${text}`, async () => {
      const request = addField({ bytes: Buffer.from(text), text, json: JSON.parse(text) }, 'max_tokens', 5)
      assert.equal(request.json.max_tokens, 5)
      assert.equal((await requestBody(request, () => ({}))).toString(), sent)
    })
})

describe('the text of a relayed request', () => {
  for (const number of [
    '9223372036854775807',
    '-9223372036854775808',
    '12345678.12345678901',
    '0.12345678901234567890',
    '1e400',
    '-2.5E-400',
    '1234567890123456e10',
  ])
    it(`keeps ${number} wherever it stands`, async () => {
      const schema = `{"type":"object","properties":{"seed":{"const":${number},"enum":[1,${number}, ${number}]}}}`
      const tools = `[{"type":"function","function":{"name":"draw","parameters":${schema.replaceAll(' ', '')}}}]`
      const sent = `{"model":"real","seed":${number},"tools":${tools}}`
      assert.equal(await textOf(sent.replace('"real"', '"alias"')), sent)
      const spaced = sent.replaceAll(':', ' :\n').replaceAll(',', ' ,')
      assert.equal(await textOf(spaced.replace('"real"', '"alias"')), spaced.replace('"model" :\n', '"model":'))
    })

  it('keeps a large number within a field that is changed', async () => {
    const text = '{"metadata":{"id":9223372036854775807,"a":1}}'
    const changesOf = (body: object) => ({ metadata: { ...(body as { metadata: object }).metadata, a: 2 } })
    const body = requestBody({ bytes: Buffer.from(text), text, json: JSON.parse(text) }, changesOf)
    assert.equal((await body).toString(), text.replace('1}}', '2}}'))
  })

  for (const text of [
    '{ "model" : "real", "seed":9223372036854775807, "n":1.0, "2":"b", "1":"a", "said":"a \\"model\\"" }\n',
    '{"stop":["\\n"],"model":"real","messages":[{"role":"user","content":"Schön"}]}',
  ])
    it(`is its client’s own where it has the model that it gets: ${text.trim()}`, async () => {
      assert.equal(await textOf(text), text)
    })

  for (const text of [
    '{"model":"other","model":"real"}',
    '{"mod\\u0065l":"other", "model":"real"}',
    '{"\\u006dodel":"real"}',
    '{"model":"real","mod\\u0065l":"real"}',
  ])
    it(`names its model once: ${text}`, async () => {
      assert.equal(await textOf(text), '{"model":"real"}')
    })

  it('keeps what was set in a request that is written again, also beside a large number', async () => {
    const sent = '{"model":"a","seed":12345678901234567890,"input":"x"}'
    const request = { bytes: Buffer.from(sent), text: sent, json: JSON.parse(sent) as object }
    const written = await rewrittenRequest(changedField(request, 'input', 'summary'))
    const text = '{"model":"a","seed":12345678901234567890,"input":"summary"}'
    assert.deepEqual([written.text, String(await requestBody(written, () => ({})))], [text, text])
  })

  it('takes the last of two equal keys, and a key that objects have of themselves', async () => {
    const sent = await textOf('{"model":"a","seed":1,"seed":9223372036854775807,"__proto__":{"a":1}}')
    assert.equal(sent, '{"model":"real","seed":9223372036854775807,"__proto__":{"a":1}}')
  })

  it('holds what its client sent, for any JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (body) => {
        // Besides one with a number that must be kept, so that both ways of writing it are held to the same.
        const text = JSON.stringify(body)
        for (const sent of [text, `{"number":12345678901234567890,${text.slice(1)}`.replace(/,}$/, '}')]) {
          assert.deepEqual(JSON.parse(await textOf(sent)), { ...JSON.parse(sent), model: 'real' })
        }
      }),
    )
  })
})
