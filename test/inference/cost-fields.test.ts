import assert from 'node:assert/strict'
import { it } from 'node:test'
import { carriedMedia } from '../../src/inference/observe/carried-media.ts'
import { costFields } from '../../src/inference/observe/cost-fields.ts'
import { usesIn } from '../../src/inference/observe/reported-terms.ts'
import { tierIn } from '../../src/providers/tiers.ts'

it('keeps all of a request that its cost depends on, and none of its content', () => {
  const content = [
    { type: 'input_text', text: 'Look.' },
    { type: 'input_image', image_url: 'https://example.com/a.png' },
    { type: 'input_file', file_data: 'data:audio/ogg;base64,AAAA' },
  ]
  const request = {
    service_tier: 'flex',
    inference_geo: 'us',
    instructions: 'Be brief.',
    input: [{ role: 'user', content }],
    tools: [
      { type: 'web_search_preview', user_location: { city: 'Rome' } },
      { type: 'function', name: 'read' },
    ],
  }
  const kept = costFields('/responses', request)
  assert.deepEqual(carriedMedia('/responses', kept), carriedMedia('/responses', request))
  assert.deepEqual(usesIn(kept, { search: 2 }), usesIn(request, { search: 2 }))
  assert.deepEqual(tierIn(kept), tierIn(request))
  assert.doesNotMatch(JSON.stringify(kept), /Look|example|AAAA|brief|Rome|read/)
  const searching = { web_search_options: { user_location: 'Rome' } }
  assert.deepEqual(usesIn(costFields('/responses', searching), {}), usesIn(searching, {}))
})
