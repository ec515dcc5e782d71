import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

/** A container of a gateway, as far as the tests read it. */
export interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

/** An object of a manifest, as far as the tests read it. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly selector: { readonly matchLabels: { readonly app: string } };
    readonly template: {
      readonly metadata: { readonly labels: { readonly app: string } };
      readonly spec: {
        readonly enableServiceLinks?: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
      };
    };
  };
}

/** Reads every object of `ops/kubernetes/`. @throws Error when one is no YAML */
export function manifests(): readonly Manifest[] {
  const folder = join(import.meta.dirname, '../../ops/kubernetes');
  return readdirSync(folder).flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((document): Manifest => {
      if (document.errors.length > 0) throw new Error(`${name}: ${document.errors.join(' ')}`);
      return document.toJS();
    }),
  );
}
