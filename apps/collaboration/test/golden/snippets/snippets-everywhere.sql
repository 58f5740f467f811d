-- snippets_everywhere_20
with
  read as materialized (
    select
      a.*
    from
      (
        select
          p.id as project_id
        from
          directory_projects p
        where
          exists (
            select
              1
            from
              snippets own
            where
              own.project_id = p.id
          )
      ) used
      cross join lateral (
        select
          p.id as project_id,
          p.name,
          p.path,
          home.full_path || '/' || p.path as full_path,
          home.full_name || ' / ' || p.name as name_with_namespace,
          p.description,
          p.created_at,
          home.traversal_ids,
          p.emails_enabled,
          (
            p.issues_access_level = 'enabled'
            or (
              p.issues_access_level = 'private'
              and held.level >= 10
            )
          ) as reads_issues,
          (
            p.merge_requests_access_level = 'enabled'
            or (
              p.merge_requests_access_level = 'private'
              and held.level >= 10
            )
          )
          and coalesce(p.repository_access_level, 'enabled') <> 'disabled'
          and (
            held.level >= 20
            or (
              p.visibility <> 'private'
              and (
                held.level >= 10
                or coalesce(p.repository_access_level, 'enabled') = 'enabled'
              )
            )
          ) as reads_merge_requests,
          (
            p.snippets_access_level = 'enabled'
            or (
              p.snippets_access_level = 'private'
              and held.level >= 10
            )
          ) as reads_snippets,
          held.level >= 10 as is_member,
          held.level >= 15 as reads_confidential,
          held.level >= 20 as reads_internal
        from
          directory_projects p
          join directory_namespaces home on home.id = p.namespace_id
          cross join lateral (
            select
              case
                when:$2::boolean then 50
                when:$1::bigint is null then 0
                else coalesce(
                  (
                    select
                      max(held.level)::integer
                    from
                      (
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id =:$1::bigint
                          and m.source_type = 'project'
                          and m.source_id = p.id
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id =:$1::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'project'
                          and s.source_id = p.id
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id =:$1::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (home.traversal_ids)
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id =:$1::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'namespace'
                          and s.source_id = any (home.traversal_ids)
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          50
                        where
                          home.kind = 'user'
                          and home.owner_id =:$1::bigint
                      ) held
                  ),
                  0
                )
              end as level
            offset
              0
          ) held
        where
          p.id = used.project_id
          and (
            p.visibility = 'public'
            or held.level >= 10
            or (
              p.visibility = 'internal'
              and:$1::bigint is not null
              and not:$3::boolean
            )
          )
        offset
          0
      ) a
    where
      a.reads_snippets
  )
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          (
            (
              select
                i.*
              from
                (
                  select
                    own.*,
                    null::text as full_path
                  from
                    snippets own
                  where
                    own.project_id is null
                    and own.author_id =:$1::bigint
                ) i
              where
                true
            )
            union all
            (
              select
                i.*
              from
                (
                  select
                    own.*,
                    null::text as full_path
                  from
                    snippets own
                  where
                    own.project_id is null
                    and own.author_id <>:$1::bigint
                    and own.visibility = 'public'
                ) i
              where
                true
            )
            union all
            (
              select
                i.*
              from
                (
                  select
                    own.*,
                    null::text as full_path
                  from
                    snippets own
                  where
                    own.project_id is null
                    and own.author_id <>:$1::bigint
                    and own.visibility = 'internal'
                    and (
:$2::boolean
                      or not:$3::boolean
                    )
                ) i
              where
                true
            )
            union all
            (
              select
                i.*
              from
                (
                  select
                    own.*,
                    null::text as full_path
                  from
                    snippets own
                  where
                    own.project_id is null
                    and own.author_id <>:$1::bigint
                    and own.visibility = 'private'
                    and:$2::boolean
                ) i
              where
                true
            )
            union all
            select
              i.*
            from
              read a
              cross join lateral (
                select
                  i.*
                from
                  (
                    select
                      own.*,
                      a.full_path
                    from
                      snippets own
                    where
                      own.project_id = a.project_id
                  ) i
                where
                  (
                    i.visibility = 'public'
                    or a.is_member
                    or (
                      i.visibility = 'internal'
                      and exists (
                        select
                          1
                        from
                          directory_users reader
                        where
                          reader.id =:$1::bigint
                          and not reader.external
                      )
                    )
                  )
                  and true
                offset
                  0
              ) i
          ) i
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(i.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not i.is_heavy then (
                select
                  format(
                    '{"id":%s,"title":%s,"file_name":%s,"files":[%s],"description":%s,"visibility":"%s","author":%s,"updated_at":"%s","created_at":"%s","project_id":%s,"imported":%s,"imported_from":"%s","web_url":"http://localhost:8080/%s","raw_url":"http://localhost:8080/%s","ssh_url_to_repo":null,"http_url_to_repo":null}',
                    i.id,
                    to_json(i.title),
                    to_json(
                      (
                        select
                          f.path
                        from
                          snippet_files f
                        where
                          f.snippet_id = i.id
                        order by
                          f.path collate "C"
                        limit
                          1
                      )
                    ),
                    array_to_string(files.texts, ','),
                    coalesce(to_json(i.description)::text, 'null'),
                    i.visibility,
                    coalesce(
                      (
                        select
                          format(
                            '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                            u.id,
                            u.username,
                            coalesce(to_json(u.public_email)::text, 'null'),
                            to_json(u.name),
                            u.state,
                            coalesce(
                              to_json(
                                case
                                  when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                  else u.avatar_url
                                end
                              )::text,
                              'null'
                            ),
                            u.username
                          )
                        from
                          directory_users u
                        where
                          u.id = i.author_id
                      ),
                      'null'
                    ),
                    to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    coalesce((i.project_id)::text, 'null'),
                    case
                      when (
                        i.project_id is null
                        and exists (
                          select
                            1
                          from
                            imported_snippets o
                          where
                            o.author_id = i.author_id
                            and o.snippet_id = i.id
                        )
                      ) then 'true'
                      else 'false'
                    end,
                    case
                      when (
                        i.project_id is null
                        and exists (
                          select
                            1
                          from
                            imported_snippets o
                          where
                            o.author_id = i.author_id
                            and o.snippet_id = i.id
                        )
                      ) then 'remote'
                      else 'none'
                    end,
                    case
                      when i.project_id is null then '-/snippets/' || i.id
                      else i.full_path || '/-/snippets/' || i.id
                    end,
                    case
                      when i.project_id is null then '-/snippets/' || i.id
                      else i.full_path || '/-/snippets/' || i.id
                    end || '/raw'
                  )
                from
                  (
                    select
                      array_agg(
                        format(
                          '{"path":%s,"raw_url":"http://localhost:8080/%s"}',
                          to_json(f.path),
                          case
                            when i.project_id is null then '-/snippets/' || i.id
                            else i.full_path || '/-/snippets/' || i.id
                          end || '/raw/main/' || f.url_path
                        )
                        order by
                          f.path collate "C"
                      ) as texts
                    from
                      snippet_files f
                    where
                      f.snippet_id = i.id
                  ) files
              )
            end,
            ','
            order by
              i.created_at desc,
              i.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          i.*,
          sum(coalesce(octet_length(i.description), 0)) over () > 524288 as is_heavy
        from
          (
            select
              i.*
            from
              (
                (
                  select
                    i.*
                  from
                    (
                      select
                        own.*,
                        null::text as full_path
                      from
                        snippets own
                      where
                        own.project_id is null
                        and own.author_id =:$1::bigint
                    ) i
                  where
                    true
                  order by
                    i.created_at desc,
                    i.id desc
                  limit
                    20
                )
                union all
                (
                  select
                    i.*
                  from
                    (
                      select
                        own.*,
                        null::text as full_path
                      from
                        snippets own
                      where
                        own.project_id is null
                        and own.author_id <>:$1::bigint
                        and own.visibility = 'public'
                    ) i
                  where
                    true
                  order by
                    i.created_at desc,
                    i.id desc
                  limit
                    20
                )
                union all
                (
                  select
                    i.*
                  from
                    (
                      select
                        own.*,
                        null::text as full_path
                      from
                        snippets own
                      where
                        own.project_id is null
                        and own.author_id <>:$1::bigint
                        and own.visibility = 'internal'
                        and (
:$2::boolean
                          or not:$3::boolean
                        )
                    ) i
                  where
                    true
                  order by
                    i.created_at desc,
                    i.id desc
                  limit
                    20
                )
                union all
                (
                  select
                    i.*
                  from
                    (
                      select
                        own.*,
                        null::text as full_path
                      from
                        snippets own
                      where
                        own.project_id is null
                        and own.author_id <>:$1::bigint
                        and own.visibility = 'private'
                        and:$2::boolean
                    ) i
                  where
                    true
                  order by
                    i.created_at desc,
                    i.id desc
                  limit
                    20
                )
                union all
                select
                  i.*
                from
                  read a
                  cross join lateral (
                    select
                      i.*
                    from
                      (
                        select
                          own.*,
                          a.full_path
                        from
                          snippets own
                        where
                          own.project_id = a.project_id
                      ) i
                    where
                      (
                        i.visibility = 'public'
                        or a.is_member
                        or (
                          i.visibility = 'internal'
                          and exists (
                            select
                              1
                            from
                              directory_users reader
                            where
                              reader.id =:$1::bigint
                              and not reader.external
                          )
                        )
                      )
                      and true
                    order by
                      i.created_at desc,
                      i.id desc
                    limit
                      20
                  ) i
              ) i
            order by
              i.created_at desc,
              i.id desc
            limit
              20
          ) i
      ) i
  ) as json
