import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isBaseUrl } from '../../src/config/addresses.ts'
import { aliasesOf, OWN_MODELS } from '../../src/providers/preset.ts'
import { KEY_VARIABLES, PRESET_NAMES, PRESETS, presetOf } from '../../src/providers/providers.ts'

describe('the presets', () => {
  it('have names, labels and variables of their own, and names that are no base URLs', () => {
    const labels = PRESETS.map(({ label }) => label)
    for (const list of [PRESET_NAMES, labels, KEY_VARIABLES]) assert.equal(new Set(list).size, list.length, list.join())
    for (const { name, baseUrl } of PRESETS) {
      assert.match(name, /^[a-z][a-z0-9]*$/)
      assert.ok(isBaseUrl(baseUrl) && !baseUrl.endsWith('/'), `${name}: ${baseUrl}`)
      assert.equal(presetOf(name)?.name, name)
    }
    assert.equal(presetOf('constructor'), undefined)
  })

  it('say where each model and its prices were read, and when', () => {
    for (const { name, models } of PRESETS)
      for (const [id, { prices, source, date }] of Object.entries(models)) {
        assert.match(source, /^https:\/\//, `${name}: ${id}`)
        assert.match(date, /^20\d\d-\d\d(-\d\d)?$/, `${name}: ${id}`)
        if (prices === 'unknown') continue
        const { long_prompt, service_tiers = {}, ...standard } = prices
        for (const rates of [standard, ...(long_prompt ? [long_prompt] : []), ...Object.values(service_tiers)]) {
          for (const [rate, usd] of Object.entries(rates)) assert.ok(usd > 0, `${name}: ${id}: ${rate} is not free`)
          const { input, output, cached_input = 0 } = rates
          assert.ok(cached_input < input && input <= output, `${name}: ${id}`)
        }
        assert.ok(!long_prompt || long_prompt.input > prices.input, `${name}: ${id}: a long prompt is dearer`)
        for (const [tier, { input }] of Object.entries(service_tiers))
          assert.ok(tier === 'flex' ? input < prices.input : input > prices.input, `${name}: ${id}: ${tier}`)
      }
  })

  it('give jobs to models that they know', () => {
    for (const preset of PRESETS.filter(({ name }) => name !== 'sandbox'))
      for (const id of Object.values(aliasesOf(preset))) assert.ok(id in preset.models, `${preset.name}: ${id}`)
  })

  it("answer to Gazeway's role names, and to further aliases of a preset", () => {
    const [xai] = PRESETS
    assert.equal(aliasesOf(xai)[OWN_MODELS.chat], 'grok-4.3')
    assert.deepEqual(aliasesOf({ ...xai, roles: { chat: 'a' }, aliases: { fast: 'b' } }), {
      [OWN_MODELS.chat]: 'a',
      fast: 'b',
    })
  })
})
