import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { secretIn, secretUnder } from '../../src/text/secret-text.ts'

/** Characters of a token, of some length. None is a real one. */
const random = (length: number) => 'a1B2c3D4e5'.repeat(10).slice(0, length)

describe('a text with a secret', () => {
  for (const text of [
    'the password is hunter2',
    `DB_PASSWORD=${random(8)}`,
    `export AWS_SECRET_ACCESS_KEY=wJ/lr${random(36)}`,
    `aws_secret_access_key = ${random(40)}`,
    `clientSecret: "${random(12)}"`,
    `{"accessToken":"${random(12)}"}`,
    `auth_token => '${random(12)}'`,
    `password := "${random(9)}"`,
    `AccountKey=${random(40)}==`,
    `private key: 0x${'4c0883a6'.repeat(8)}`,
    `The private key is 0x${'4c0883a6'.repeat(8)}`,
    'db:password=Hunter22xy',
    'mysql:token: abcd1234ef',
    'password=vault2Secure9',
    'Das Passwort ist Hunter22',
    'curl -s -u admin:Hunter22 https://example.org',
    'curl "https://example.org/?a=1&b=2" --user admin:Hunter22',
    'password: Keepass99xyz',
    `curl -H "authorization: Bearer ${random(20)}"`,
    `gzw_${'0f'.repeat(16)}_${random(43)}`,
    `gsk_${random(30)}`,
    `hf_${random(34)}`,
    `https://hooks.slack.com/services/T0AB/B0CD/${random(24)}`,
    `whsec_${random(32)}`,
  ])
    it(`is recognized: ${text.slice(0, 40)}`, () => assert.notEqual(secretIn(text), null))
})

describe('a text that says where a secret is kept', () => {
  for (const text of [
    'The password of the database is in 1Password, entry shop.',
    'DB password: 1Password, entry shop',
    'DB_PASSWORD=$SHOP_DB_PASSWORD1',
    'token: process.env.SHOP_TOKEN1',
    'password = os.environ["DB_PASSWORD1"]',
    'secret: op://shop/db1/password',
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop-db-4xK2ab',
    'DB password: KeePassXC, entry shop2',
    'password: vault-entry-2',
    'Its access key is user_id_v2.',
    'The private key is ed25519-format.',
    'The passcode is 4-digits.',
    'Send it as a bearer token, which gazeway key create prints.',
    'max_tokens: 4096 by default',
    'Its primary key is order_id.',
    'We use sk_buff_clone in the driver.',
    'Das Passwort ist im Tresor von Ada2.',
    'curl -u admin:$PASSWORD2 https://example.org',
    'curl -H x; docker run -u 1000:1000000 x',
    'curl https://example.org | docker run -u user:group22 image',
    'curl https://example.org && rsync -u host1:folder2/a b',
  ])
    it(`is none: ${text.slice(0, 40)}`, () => assert.equal(secretIn(text), null))
})

describe('a word under the name of something', () => {
  for (const [name, word, isSecret] of [
    ['shop/db-password', 'hunter2', true],
    ['db/passwort', 'Hunter22x', true],
    ['db/password', 'summer-2026', true],
    ['models/api_key', '3f9a8b7c6d5e', true],
    ['aws/secret_access_key', random(20), true],
    ['ci/token', random(20), true],
    ['oauth/client-secret', '4c0883a6'.repeat(4), true],
    ['models/api_key', 'AZURE_KEY_2', false],
    ['db/password', 'SHOP_DB_PASSWORD1', false],
    ['auth/password', 'argon2id', false],
    ['auth/password', 'bcrypt-12', false],
    ['policy/password', 'min12chars', false],
    ['design/token', 'color-blue-500', false],
    ['nlp/token', 'bpe-50257', false],
    ['auth/token', 'sha256-hmac', false],
    ['ops/secret', 'kubernetes-secret-shop-db-v2', false],
    ['ci/token', 'process.env.SHOP_TOKEN1', false],
  ] as const)
    it(`is ${isSecret ? 'recognized' : 'none'}: ${name} ${word}`, () => {
      assert.equal(secretUnder(name, word) !== null, isSecret)
    })
})
