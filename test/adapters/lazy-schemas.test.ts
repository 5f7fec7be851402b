import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lazySchemas } from '../../scripts/lazy-schemas.ts'

/** Two eras, laid out as the SDK's build lays them out. */
const factory = (name: string) => `function ${name}() {
	const IdSchema$1 = z.made('id');
	/**
	* Refers to IdSchema$1, as PairSchema does.
	*/
	const PairSchema = z.made('pair', [
		IdSchema$1,
		IdSchema$1
	]);
	const wrapped = (inner) => {
		const kept = z.made('wrapped', inner);
		return kept;
	};
	const shape = {
		id: IdSchema$1,
		PairSchema: 'no reference'
	};
	function later() {
		return z.made('later', shape.id);
	}
	return {
		IdSchema: IdSchema$1,
		PairSchema,
		ListSchema: z.made('list', [
			PairSchema,
			wrapped(IdSchema$1)
		]),
		LaterSchema: later()
	};
}`
const SOURCE = `${factory('build$1')}
${factory('build')}
function tables(s) {
	return {
		requests: {
			ping: s.IdSchema,
			"tools/list": s.PairSchema
		}
	};
}`

describe('the schemas of the protocol in the bundle', () => {
  const made: string[] = []
  const z = {
    made(name: string, ...parts: unknown[]) {
      made.push(name)
      return { name, parts }
    },
  }
  const { build, tables } = new Function('z', `${lazySchemas(SOURCE)}\nreturn { build, tables }`)(z)

  it('are made on first use, with what they refer to, and once', () => {
    const schemas = build()
    assert.deepEqual(made, [])
    const { requests } = tables(schemas)
    assert.deepEqual(made, [])
    assert.equal(requests['tools/list'].name, 'pair')
    assert.deepEqual(made, ['pair', 'id'].toReversed())
    assert.equal(requests.ping, schemas.IdSchema)
    assert.equal(schemas.PairSchema.parts[0][1], schemas.IdSchema)
    assert.equal(schemas.ListSchema.parts[0][1].parts[0], schemas.IdSchema)
    assert.equal(schemas.LaterSchema.parts[0], schemas.IdSchema)
    assert.equal(schemas.ListSchema, schemas.ListSchema)
    assert.deepEqual(made, ['id', 'pair', 'wrapped', 'list', 'later'])
  })

  it('end the build where the SDK lays them out otherwise', () => {
    assert.throws(() => lazySchemas(SOURCE.replace('function build()', 'function make()')), /lays its schemas out/)
  })
})
