import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { holdsPrivateKey, looksSecret } from '../../src/context/secrets.ts'

describe('files that look like secrets', () => {
  const secret = [
    '.env',
    '.env.local',
    'app/.ENV.production',
    'tls/server.pem',
    'server.key',
    'id_rsa',
    'home/.ssh/config',
    'credentials',
    'credentials.json',
    'aws_credentials.ini',
    'config/secrets.yml',
    'secrets/a.txt',
    '.npmrc',
    '.netrc',
    'infra/prod.tfstate',
    'service-account-prod.json',
    '.aws/config',
    '.git-credentials',
    'client_secret.json',
    'deploy/prod.env',
    'docker.env.local',
    'app.env.yaml',
    '.dev.vars',
    '.dev.vars.staging',
    '.dockerconfigjson',
    'passwords.txt',
    'etc/passwd',
    'token.txt',
    'github_token',
    'tokens.json',
    'auth.json',
    'api/local.settings.json',
  ]
  const open = [
    'src/environment.ts',
    'src/keyboard.ts',
    'docs/keys.md',
    'monkey.ts',
    'src/secretary.ts',
    'README.md',
    'src/env.ts',
    'vite.env.d.ts',
    'test/jest.env.js',
    'src/tokens.ts',
    'password-field.tsx',
    'tokenizer.py',
    'tokenizer.json',
    'theme/design-tokens.json',
    'tokens.css',
    'src/passwd.c',
    'auth.ts',
    '.github/workflows/auth-test.yml',
    'docs/passwords.md',
    'settings.json',
  ]

  for (const path of secret) it(`hides the text of ${path}`, () => assert.equal(looksSecret(path), true))
  for (const path of open) it(`shows the text of ${path}`, () => assert.equal(looksSecret(path), false))

  it('knows a private key in whatever file', () => {
    assert.equal(holdsPrivateKey('x\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc'), true)
    assert.equal(holdsPrivateKey('-----BEGIN PUBLIC KEY-----'), false)
  })
})
