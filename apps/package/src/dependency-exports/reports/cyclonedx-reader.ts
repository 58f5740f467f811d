import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Tokenizer } from '@streamparser/json';
import type { ComponentFacts } from './cyclonedx-component';
import { parseCycloneDxComponent } from './cyclonedx-component';
import { cycloneDxShape, readField, readList, readText } from './cyclonedx-shape';
import { DependencyGraph } from './dependency-graph';
import type { ReportProperty, ReportTool } from './dependency-report.entity';
import { InvalidJsonDocument, JsonPicker } from './json-picker';
import type { PickedValue } from './json-picker';

/** A component with its place in the document, from 0. */
export interface NumberedComponent extends ComponentFacts {
  readonly position: number;
}

/** Facts in the head of a document. */
export interface DocumentFacts {
  readonly inputFile: string | null;
  readonly packager: string | null;
  readonly tools: readonly ReportTool[];
  readonly properties: readonly ReportProperty[];
  readonly graph: DependencyGraph;
}

const VERSIONS = ['1.4', '1.5', '1.6'];
const MAX_COMPONENTS = 100_000;
const BATCH = 1000;

/** Names of properties that analysers write. Source: reference packages-and-admin 6.4. */
const PROPERTY = {
  inputFile: /^gitlab:dependency_scanning:input_file(?::path)?$/,
  packager: /^gitlab:dependency_scanning:package_manager(?::name)?$/,
};

/**
 * Reads a CycloneDX document as a stream. `take` stores components in batches while the document is read.
 * Errors: InvalidJsonDocument; those of the stream and of `take`. Source: reference packages-and-admin 6.4.
 */
export async function readCycloneDx(
  body: Readable,
  take: (components: readonly NumberedComponent[]) => Promise<void>,
): Promise<DocumentFacts> {
  const graph = new DependencyGraph();
  let waiting: NumberedComponent[] = [];
  let count = 0;
  const picker = new JsonPicker(cycloneDxShape, (name, item) => {
    if (name === 'dependency') return addDependsOnEdges(graph, item);
    if (count >= MAX_COMPONENTS) throw new InvalidJsonDocument(`it has more than ${MAX_COMPONENTS} components`);
    const position = count++;
    graph.placeComponent(readText(item, 'bom-ref'), position);
    waiting.push({ ...parseCycloneDxComponent(item), position });
  });
  for await (const _ of feedJsonToPicker(body, picker)) {
    while (waiting.length >= BATCH) await take(waiting.splice(0, BATCH));
  }
  if (waiting.length > 0) await take(waiting);
  waiting = [];
  return readCycloneDxFacts(picker.finish(), graph);
}

/** Feeds the document to the picker, and yields after each chunk. Other work gets a turn in between. */
async function* feedJsonToPicker(body: Readable, picker: JsonPicker): AsyncGenerator<void> {
  const tokenizer = new Tokenizer();
  const failures: Error[] = [];
  tokenizer.onToken = ({ token, value }): void => picker.readToken(token, value);
  tokenizer.onError = (error): void => void failures.push(error);
  const check = (): void => {
    const [failure] = failures;
    if (failure)
      throw failure instanceof InvalidJsonDocument ? failure : new InvalidJsonDocument('it is no JSON document');
  };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    tokenizer.write(chunk);
    check();
    yield;
    await nextTurn();
  }
  if (!tokenizer.isEnded) tokenizer.end();
  check();
}

function addDependsOnEdges(graph: DependencyGraph, entry: PickedValue): void {
  const ref = readText(entry, 'ref');
  if (ref === null) return;
  for (const child of readList(entry, 'dependsOn')) if (typeof child === 'string') graph.addEdge(ref, child);
}

function readCycloneDxFacts(document: PickedValue, graph: DependencyGraph): DocumentFacts {
  if (readText(document, 'bomFormat') !== 'CycloneDX') throw new InvalidJsonDocument('its bomFormat is not CycloneDX');
  const version = readText(document, 'specVersion');
  if (version === null || !VERSIONS.includes(version))
    throw new InvalidJsonDocument(`its specVersion ${version ?? ''} is not one of ${VERSIONS.join(', ')}`);
  const metadata = readField(document, 'metadata');
  graph.setRoot(readText(readField(metadata, 'component'), 'bom-ref'));
  const properties = readList(metadata, 'properties').flatMap((property): ReportProperty[] => {
    const name = readText(property, 'name');
    return name === null ? [] : [{ name, value: readText(property, 'value') ?? '' }];
  });
  const propertyNamed = (name: RegExp): string | null => properties.find((one) => name.test(one.name))?.value || null;
  return {
    inputFile: propertyNamed(PROPERTY.inputFile),
    packager: propertyNamed(PROPERTY.packager),
    tools: parseTools(metadata),
    ...{ properties, graph },
  };
}

/** Tools are an array up to 1.4, and an object of components and services from 1.5 on. */
function parseTools(metadata: PickedValue | undefined): readonly ReportTool[] {
  const tools = readField(metadata, 'tools');
  const written = Array.isArray(tools) ? tools : [...readList(tools, 'components'), ...readList(tools, 'services')];
  return written.map((tool) => ({
    vendor: readText(tool, 'vendor') ?? readText(tool, 'publisher') ?? readText(tool, 'group'),
    name: readText(tool, 'name'),
    version: readText(tool, 'version'),
  }));
}
