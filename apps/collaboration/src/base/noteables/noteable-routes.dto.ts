import { ability, anyone, Int, signedIn, source } from '@rookery/api-v4';
import type { Call, GroupScope, Permission, ProjectScope, ScopeOption } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import type { NoteableKind } from './noteable-kinds';
import type { PlacedNoteable } from './planning.policy';
import type { NamedNoteable } from './reader';

/**
 * Where things of a kind are found. The wing of the noun says it once, and the routes below a thing (its notes, their
 * threads, …) are made from it: each is one declaration, whatever the kind.
 */
export interface NoteableRoutes {
  readonly kind: NoteableKind;
  /** Below `/api/v4`, ending in the parameter that names a thing: `projects/:id/issues/:issue_iid`. */
  readonly path: string;
  /** Further paths of the same routes. */
  readonly aliases?: readonly string[];
  /** The column that the parameter names a thing by. */
  readonly by: NamedNoteable['by'];
  /** With its article, as it stands in sentences: `an issue`. */
  readonly a: string;
  /** What promises the notes of this kind: `requirements 1 §4 Issue notes`. */
  readonly promisedIn: string;
  /** What the parent must have for things of the kind to be asked for at all, and then by signed-in callers only; else 403. */
  readonly offeredBy?: (parent: ParentScope) => boolean;
}

/** No parameters but the one that names the thing, which each kind adds. */
export class OneThing {}

/** The parent of what is talked about. */
export type ParentScope = ProjectScope | GroupScope;
export type BelowCall<P, V extends Viewer> = Call<P, ParentScope, V>;

/** What the routes below a thing have in common. */
export interface Below {
  readonly within: ScopeOption<ParentScope>;
  /** Everybody who sees the parent, or everybody of them who is signed in; who may do more is asked by the thing. */
  readonly may: {
    readonly read: Permission<unknown, ParentScope>;
    readonly write: Permission<unknown, ParentScope, SignedInViewer>;
  };
  /** For compound rules. */
  isOffered(parent: ParentScope): boolean;
  /** Further paths, with `tail` after the thing. Shape: to be spread into the options of an endpoint. */
  aliases(tail: string): { readonly aliases?: readonly string[] };
  /** Own parameters and the one that names the thing. */
  params<P extends object>(own: new () => P): new () => P;
  /** The thing that the call is about. */
  of(call: BelowCall<object, Viewer>): PlacedNoteable;
}

/** Reads a kind's declaration for a controller that is stamped for each kind. */
export function below({ kind, path, aliases = [], by, offeredBy }: NoteableRoutes): Below {
  const name = /:(\w+)$/.exec(path)![1]!;
  const offered =
    offeredBy &&
    ability(`${kind.noun}.reach`, ({ within }: BelowCall<unknown, SignedInViewer>) => offeredBy(within), {
      signedIn: true,
    });
  return {
    // What is shown of a thing names others, wherever they are, as far as the reader sees them.
    within: source(kind.parent, 'id', 'copy'),
    // Whoever is let in by the narrower rule is a viewer too.
    may: { read: (offered as Permission<unknown, ParentScope> | undefined) ?? anyone(), write: offered ?? signedIn() },
    isOffered: (parent) => offeredBy?.(parent) ?? true,
    aliases: (tail) => (aliases.length === 0 ? {} : { aliases: aliases.map((alias) => `${alias}/${tail}`) }),
    params: (own) => {
      const Named = class extends (own as new () => object) {};
      Int()(Named.prototype as Record<string, number>, name);
      return Named as typeof own;
    },
    of: ({ params, within }) => ({ kind, parent: within, by, named: (params as Record<string, number>)[name]! }),
  };
}

/** A decorator that counts only where it is wanted: a route that not every kind has. */
export function only(isWanted: boolean): <D extends (...args: never[]) => void>(decorator: D) => D {
  return (decorator) => (isWanted ? decorator : ((() => undefined) as unknown as typeof decorator));
}

/** Gives a stamped class a name of its own: documents and problems name an endpoint by its class. */
export function stamped<C extends object>(name: string, controller: C): C {
  return Object.defineProperty(controller, 'name', { value: name });
}
