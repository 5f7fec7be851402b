import { forgetFacts, listFacts } from '../../src/inference/dialect/shared-facts.ts'
import type { Check } from './check.ts'

/** Most models that the line names. */
const NAMED = 10

/** Lists what models refuse, by upstream and model. */
export const FACTS: Check = {
  name: 'facts',
  async run({ store }) {
    const facts = await listFacts(store, new Date())
    if (facts.length === 0) return 'no model is known to refuse a form of requests'
    const models = new Map<string, Set<string>>()
    for (const { upstream, model, name } of facts) {
      const key = model === '' ? upstream : `${upstream}/${model}`
      models.set(key, (models.get(key) ?? new Set()).add(name))
    }
    const named = [...models].slice(-NAMED).map(([model, names]) => `${model}: ${[...names].join(', ')}`)
    const more = models.size > NAMED ? `; and ${models.size - NAMED} models more` : ''
    return `${named.join('; ')}${more}; --forget-facts has them met again`
  },
}

/** Forgets them, for a provider that has changed within the hour. */
export const FORGETTING: Check = {
  name: 'facts',
  async run({ store }) {
    return `forgotten: ${await forgetFacts(store)}; a running gateway follows within ten seconds`
  },
}
