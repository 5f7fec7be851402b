import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ResponseObject } from '../../src/inference/convert/chat-to-response.ts'
import { citedPages, outputText } from '../../src/inference/observe/response-texts.ts'

const url_citation = { type: 'url_citation', url: 'https://a.example', title: 'A' }

const response = (content: unknown) => ({ output: [{ type: 'message', content }, { type: 'other' }] }) as ResponseObject

describe('what a Response says', () => {
  const annotated: Record<string, [annotations: unknown, pages: unknown]> = {
    'with its pages': [[url_citation], [{ url: 'https://a.example', title: 'A' }]],
    'with a page without title': [[{ ...url_citation, title: '' }], [{ url: 'https://a.example', title: null }]],
    'without annotations': [undefined, []],
    'with null for its annotations': [null, []],
    'with annotations that are none': [[null, 'x', { type: 'url_citation' }, { ...url_citation, url: 5 }], []],
  }
  for (const [what, [annotations, pages]] of Object.entries(annotated))
    it(`is read ${what}`, () => {
      const told = response([{ type: 'output_text', text: 'So.', annotations }])
      assert.equal(outputText(told), 'So.')
      assert.deepEqual(citedPages(told), pages)
    })

  it('is read in the other shapes that upstreams give it', () => {
    assert.equal(outputText(response('So.')), 'So.')
    assert.equal(outputText(response([{ type: 'text', text: 'So.' }])), 'So.')
    assert.equal(outputText({ output: [] as unknown, output_text: 'So.' } as ResponseObject), 'So.')
    assert.equal(outputText({ ...response('So.'), output_text: 'Other.' }), 'So.')
  })

  it('holds refusals, and nothing of what has no parts', () => {
    assert.equal(outputText(response([{ type: 'refusal', refusal: 'No.' }])), 'No.')
    for (const content of [undefined, null, 5, [null], [{ type: 'output_text' }]])
      assert.equal(outputText(response(content)), '')
  })
})
