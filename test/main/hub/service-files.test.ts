import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { addTeamCommands } from '../../../src/main/cli/team.js';
import { parsePlace } from '../../../src/main/hub/start.js';
import { isInstalled } from '../../support/machine.js';
import { scratch } from '../../support/project.js';

const docs = join(import.meta.dirname, '../../../docs/hub');

interface Service {
  readonly command: string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: string[];
  readonly volumes?: string[];
  readonly entrypoint?: string[];
  readonly build?: { readonly dockerfile_inline: string };
  readonly healthcheck?: { readonly test: string[] };
}

const compose = parse(readFileSync(join(docs, 'compose.yaml'), 'utf8')) as {
  readonly services: Readonly<Record<'hub' | 'postgres' | 'objects', Service>>;
  readonly volumes: object;
};

/** The options with which `stemma hub` would start. @throws for a command line that it refuses. */
async function optionsOf(words: readonly string[], environment: Readonly<Record<string, string | undefined>>): Promise<Record<string, unknown>> {
  const program = new Command().exitOverride();
  addTeamCommands(program);
  let options: Record<string, unknown> = {};
  const command = program.commands.find((each) => each.name() === 'hub');
  command?.exitOverride().action((given) => {
    options = given;
  });
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  await program.parseAsync([...words], { from: 'user' }).finally(() => vi.unstubAllEnvs());
  return options;
}

describe('the hub as a service', () => {
  test('[E35] the hub accepts the command lines and addresses of the compose file and the unit', async () => {
    const hubService = compose.services.hub;
    const unit = readFileSync(join(docs, 'stemma-hub.service'), 'utf8');
    const [program, ...words] = /ExecStart=(.*)/.exec(unit)?.[1]?.split(' ') ?? [];
    expect([program, words[0]]).toEqual(['/usr/local/bin/stemma', 'hub']);
    const variables = Object.fromEntries([...unit.matchAll(/^# +(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
    const [composed, served] = [await optionsOf(hubService.command, hubService.environment), await optionsOf(words, variables)];
    expect(composed).toMatchObject({ host: '0.0.0.0', port: 8080, data: '/data', database: hubService.environment.STEMMA_DATABASE });
    expect(served).toMatchObject({ host: '127.0.0.1', port: 8080, data: '/var/lib/stemma-hub', database: variables.STEMMA_DATABASE });
    expect(parsePlace(String(composed.objects))).toEqual({
      kind: 's3',
      bucket: 'stemma',
      prefix: 'objects/',
      region: 'us-east-1',
      endpoint: 'http://objects:9000',
    });
    expect(parsePlace(String(served.objects))).toMatchObject({ kind: 's3', region: 'eu-central-1' });
    // Without a proxy on the machine, nobody reaches the hub of the unit; the other one is published on loopback only.
    expect(hubService.ports).toEqual(['127.0.0.1:8080:8080']);
    expect(unit).toContain('StateDirectory=stemma-hub');
    // SIGHUP ends a hub without certificate files.
    expect(unit).not.toContain('ExecReload');
  });

  test('[E35] the parts of the compose file fit together', async () => {
    const { hub: service, postgres, objects } = compose.services;
    const text = readFileSync(join(docs, 'compose.yaml'), 'utf8');
    const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect([...asked].sort()).toEqual(['POSTGRES_PASSWORD', 'S3_ACCESS_KEY', 'S3_SECRET_KEY']);
    for (const name of asked) expect(text.split('\n')[1]).toContain(name);
    const database = new URL(String(service.environment.STEMMA_DATABASE).replace(/\$\{[^}]*\}/, 'password'));
    expect([database.hostname, database.username, database.pathname.slice(1)]).toEqual([
      'postgres',
      postgres.environment.POSTGRES_USER,
      postgres.environment.POSTGRES_DB,
    ]);
    // The bucket is a folder of the other service, and what the hub writes is a volume that its user owns.
    expect(objects.entrypoint?.join(' ')).toContain('mkdir -p /data/stemma');
    const image = service.build?.dockerfile_inline ?? '';
    expect(image).toContain('install -d -o node /data');
    expect(service.volumes).toEqual(['received:/data']);
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((each) => each.split(':')[0]));
    expect(mounted.sort()).toEqual(Object.keys(compose.volumes).sort());
    const { bin, scripts } = JSON.parse(readFileSync(join(docs, '../../package.json'), 'utf8')) as { bin: { stemma: string }; scripts: object };
    expect(image).toContain(`ENTRYPOINT ["node", "${bin.stemma}"]`);
    for (const [, script = ''] of image.matchAll(/npm run (\w+)/g)) expect(scripts).toHaveProperty(script);
  });

  test.skipIf(!isInstalled('systemd-analyze'))('[E35] systemd accepts the unit (needs systemd-analyze)', () => {
    const file = join(scratch(), 'stemma-hub.service');
    const unit = readFileSync(join(import.meta.dirname, '../../../docs/hub/stemma-hub.service'), 'utf8');
    writeFileSync(file, unit.replace('/usr/local/bin/stemma', '/bin/true'));
    expect(execFileSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })).toBe('');
  });
});
