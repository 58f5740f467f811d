-- feeds_each_of_memberships_desc_20: $1 viewer, $2 is_admin, $3 is_external
with
  own_roots as (
    select
      m.source_id as id
    from
      directory_memberships m
    where
      m.user_id = (
        select
          :viewer::bigint
      )
      and m.source_type = 'namespace'
      and (
        m.expires_on is null
        or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
      )
      and m.access_level >= 10
    union
    select
      n.id
    from
      directory_users u
      join directory_namespaces n on lower(n.full_path) = lower(u.username)
      and n.kind = 'user'
      and n.owner_id = u.id
    where
      u.id = (
        select
          :viewer::bigint
      )
  ),
  own_groups as (
    select
      n.id,
      n.traversal_ids
    from
      own_roots root
      join directory_namespaces top on top.id = root.id
      join directory_namespaces n on (
        n.traversal_ids >= top.traversal_ids::bigint[]
        and n.traversal_ids < (top.traversal_ids::bigint[]) [1 :array_length (top.traversal_ids::bigint[], 1) - 1] || ((top.traversal_ids::bigint[]) [array_length(top.traversal_ids::bigint[], 1)] + 1)
      )
  ),
  shared as (
    select
      s.source_type,
      s.source_id as id
    from
      own_groups g
      join directory_shares s on s.group_id = g.id
      and (
        s.expires_on is null
        or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
      )
      and s.access_level >= 10
  ),
  all_groups as (
    select
      id
    from
      own_groups
    union
    select
      id
    from
      (
        select
          n.id,
          n.traversal_ids
        from
          (
            select
              id
            from
              shared
            where
              source_type = 'namespace'
          ) root
          join directory_namespaces top on top.id = root.id
          join directory_namespaces n on (
            n.traversal_ids >= top.traversal_ids::bigint[]
            and n.traversal_ids < (top.traversal_ids::bigint[]) [1 :array_length (top.traversal_ids::bigint[], 1) - 1] || ((top.traversal_ids::bigint[]) [array_length(top.traversal_ids::bigint[], 1)] + 1)
          )
      ) lent
  ),
  mine as (
    select
      p.id as project_id
    from
      all_groups g
      join directory_projects p on p.namespace_id = g.id
    union
    select
      m.source_id
    from
      directory_memberships m
    where
      m.user_id = (
        select
          :viewer::bigint
      )
      and m.source_type = 'project'
      and (
        m.expires_on is null
        or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
      )
      and m.access_level >= 10
    union
    select
      id
    from
      shared
    where
      source_type = 'project'
  ),
  found as materialized (
    select
      e.*
    from
      mine
      join lateral (
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
                when (
                  select
                    :is_admin::boolean
                ) then 50
                when (
                  select
                    :viewer::bigint
                ) is null then 0
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
                          m.user_id = (
                            select
                              :viewer::bigint
                          )
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
                          join directory_memberships m on m.user_id = (
                            select
                              :viewer::bigint
                          )
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
                          m.user_id = (
                            select
                              :viewer::bigint
                          )
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
                          join directory_memberships m on m.user_id = (
                            select
                              :viewer::bigint
                          )
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
                          and home.owner_id = (
                            select
                              :viewer::bigint
                          )
                      ) held
                  ),
                  0
                )
              end as level
            offset
              0
          ) held
        where
          p.id = mine.project_id
          and (
            p.visibility = 'public'
            or held.level >= 10
            or (
              p.visibility = 'internal'
              and (
                select
                  :viewer::bigint
              ) is not null
              and not (
                select
                  :is_external::boolean
              )
            )
          )
        offset
          0
      ) a on a.is_member
      cross join lateral (
        select
          e.*,
          coalesce(
            octet_length(n.body) + coalesce(
              (
                select
                  sum(octet_length(s.from_content) + octet_length(s.to_content))
                from
                  suggestions s
                where
                  s.note_id = n.id
              ),
              0
            ),
            0
          ) as bytes,
          case
            when e.noteable_id is not null then about.title
            when e.target_type = 'Project' then a.name
          end as target_title,
          about.iid as noteable_iid,
          case
            when e.target_type = e.noteable_type then about.iid
            else e.target_id
          end as target_iid
        from
          activity_events e
          left join lateral (
            select
              a.reads_issues
              and (
                not i.confidential
                or a.reads_confidential
                or (
                  i.author_id = (
                    select
                      :viewer::bigint
                  )
                  and a.is_member
                )
                or (
                  select
                    :viewer::bigint
                ) in (
                  select
                    seen.user_id
                  from
                    issue_assignees seen
                  where
                    seen.issue_id = i.id
                )
              ) as is_readable,
              i.title,
              i.iid as iid
            from
              issues i
            where
              i.id = e.noteable_id
              and e.noteable_type = 'Issue'
          ) issue on true
          left join lateral (
            select
              a.reads_snippets
              and (
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
                      reader.id = (
                        select
                          :viewer::bigint
                      )
                      and not reader.external
                  )
                )
              ) as is_readable,
              i.title,
              null::bigint as iid
            from
              snippets i
            where
              i.id = e.noteable_id
              and e.noteable_type = 'Snippet'
          ) snippet on true
          left join lateral (
            select
              (
                a.reads_issues
                or a.reads_merge_requests
              ) as is_readable,
              m.title,
              m.iid
            from
              milestones m
            where
              m.id = e.noteable_id
              and e.noteable_type = 'Milestone'
              and (
                m.project_id = e.project_id
                or exists (
                  select
                    1
                  from
                    directory_projects p
                    join directory_namespaces home on home.id = p.namespace_id
                  where
                    p.id = e.project_id
                    and m.group_id = any (home.traversal_ids)
                )
              )
          ) milestone on true
          cross join lateral (
            select
              coalesce(issue.is_readable, snippet.is_readable, milestone.is_readable) as is_readable,
              coalesce(issue.title, snippet.title, milestone.title) as title,
              coalesce(issue.iid, snippet.iid, milestone.iid) as iid
          ) about
          left join notes n on n.id = e.target_id
          and e.target_type in ('Note', 'DiscussionNote', 'DiffNote')
        where
          e.project_id = mine.project_id
          and true
          and (
            case
              when e.action = 'pushed' then exists (
                select
                  1
                from
                  directory_projects code
                where
                  code.id = e.project_id
                  and coalesce(code.repository_access_level, 'enabled') <> 'disabled'
                  and (
                    a.reads_internal
                    or (
                      code.visibility <> 'private'
                      and (
                        a.is_member
                        or coalesce(code.repository_access_level, 'enabled') = 'enabled'
                      )
                    )
                  )
              )
              when e.action = 'destroyed' then (
                a.reads_issues
                or a.reads_merge_requests
              )
              when e.noteable_id is null then true
              else (
                about.is_readable
                and (
                  e.target_type not in ('Note', 'DiscussionNote', 'DiffNote')
                  or (
                    n.id is not null
                    and (
                      not n.internal
                      or a.reads_internal
                    )
                  )
                )
              )
            end
          )
        order by
          e.created_at desc,
          e.id desc
        limit
          51
      ) e
    order by
      e.created_at desc,
      e.id desc
    limit
      51
  )
select
  (
    select
      count(*)::integer
    from
      found
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(e.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not e.is_heavy then format(
                '{"id":%s,"title":null,"project_id":%s,"action_name":"%s","target_id":%s,"target_iid":%s,"target_type":%s,"author_id":%s,"target_title":%s,"created_at":"%s","imported":%s,"imported_from":%s,"author_username":%s,"data":null%s%s%s}',
                e.id,
                e.project_id,
                case e.action
                  when 'created' then case
                    when e.target_type <> 'Project' then 'opened'
                    when e.imported_from <> 'none' then 'imported'
                    else 'created'
                  end
                  when 'reopened' then 'opened'
                  when 'updated' then 'opened'
                  when 'commented' then 'commented on'
                  when 'pushed' then case e.push_data ->> 'action'
                    when 'created' then 'pushed new'
                    when 'removed' then 'deleted'
                    else 'pushed to'
                  end
                  when 'merged' then 'accepted'
                  when 'expired' then 'removed due to membership expiration from'
                  else e.action
                end,
                coalesce((e.target_id)::text, 'null'),
                coalesce((e.target_iid)::text, 'null'),
                coalesce('"' || (e.target_type) || '"', 'null'),
                e.author_id,
                coalesce(to_json(e.target_title)::text, 'null'),
                to_char((e.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                case
                  when e.imported_from <> 'none' then 'true'
                  else 'false'
                end,
                to_json(e.imported_from),
                coalesce('"' || (author.username) || '"', 'null'),
                case
                  when author.id is not null then format(
                    ',"author":{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                    author.id,
                    author.username,
                    coalesce(to_json(author.public_email)::text, 'null'),
                    to_json(author.name),
                    author.state,
                    coalesce(
                      to_json(
                        case
                          when left(author.avatar_url, 1) = '/' then 'http://localhost:8080' || author.avatar_url
                          else author.avatar_url
                        end
                      )::text,
                      'null'
                    ),
                    author.username
                  )
                end,
                case
                  when n.id is not null then format(
                    ',"note":{"id":%s,"type":%s,"body":%s,"attachment":null,"author":%s,"created_at":"%s","updated_at":"%s","system":%s,"noteable_id":%s,"noteable_type":"%s","project_id":%s,"noteable_iid":%s,"resolvable":%s,"confidential":%s,"internal":%s,"imported":%s,"imported_from":"%s","commands_changes":{}%s%s}',
                    n.id,
                    coalesce(
                      '"' || (
                        case
                          when n.thread_id is not null then case
                            when exists (
                              select
                                1
                              from
                                note_positions p
                              where
                                p.thread_id = n.thread_id
                            ) then 'DiffNote'
                            else 'DiscussionNote'
                          end
                        end
                      ) || '"',
                      'null'
                    ),
                    to_json(
                      case
                        when (
                          n.referenced_id is null
                          or false
                        )
                        and (
                          not (
                            n.system
                            and n.body ~ '^(?:mentioned in|closed via) commit [0-9a-f]+$'
                          )
                          or false
                        ) then n.body
                        else regexp_replace(n.body, '\S+(?= as (?:child epic|parent epic|a duplicate of this issue)$)|\S+$', 'something that you may not see')
                      end
                    ),
                    case
                      when a.id is not null then format(
                        '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s","email":%s%s}',
                        a.id,
                        a.username,
                        coalesce(to_json(a.public_email)::text, 'null'),
                        to_json(a.name),
                        a.state,
                        coalesce(
                          to_json(
                            case
                              when left(a.avatar_url, 1) = '/' then 'http://localhost:8080' || a.avatar_url
                              else a.avatar_url
                            end
                          )::text,
                          'null'
                        ),
                        a.username,
                        to_json(
                          coalesce(
                            case
                              when (
                                select
                                  :is_admin::boolean
                              )
                              or a.id = (
                                select
                                  :viewer::bigint
                              ) then a.notification_email
                            end,
                            a.public_email,
                            a.id || '-' || a.username || '@users.noreply.localhost'
                          )
                        ),
                        case
                          when not a.private_profile
                          or (
                            select
                              :is_admin::boolean
                          )
                          or a.id = (
                            select
                              :viewer::bigint
                          ) then format(',"created_at":"%s"', to_char((a.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                        end
                      )
                      else 'null'
                    end,
                    to_char((n.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((n.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    case
                      when n.system then 'true'
                      else 'false'
                    end,
                    coalesce((n.noteable_id)::text, 'null'),
                    e.noteable_type,
                    coalesce((n.project_id)::text, 'null'),
                    coalesce((e.noteable_iid)::text, 'null'),
                    case
                      when (
                        n.thread_id is not null
                        and e.noteable_type in ('Issue')
                      ) then 'true'
                      else 'false'
                    end,
                    case
                      when n.internal then 'true'
                      else 'false'
                    end,
                    case
                      when n.internal then 'true'
                      else 'false'
                    end,
                    case
                      when n.imported_from <> 'none' then 'true'
                      else 'false'
                    end,
                    n.imported_from,
                    case
                      when (
                        n.thread_id is not null
                        and e.noteable_type in ('Issue')
                      ) then format(
                        ',"resolved":%s,"resolved_by":%s,"resolved_at":%s',
                        case
                          when n.resolved_at is not null then 'true'
                          else 'false'
                        end,
                        coalesce(
                          (
                            select
                              format(
                                '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                                r.id,
                                r.username,
                                coalesce(to_json(r.public_email)::text, 'null'),
                                to_json(r.name),
                                r.state,
                                coalesce(
                                  to_json(
                                    case
                                      when left(r.avatar_url, 1) = '/' then 'http://localhost:8080' || r.avatar_url
                                      else r.avatar_url
                                    end
                                  )::text,
                                  'null'
                                ),
                                r.username
                              )
                            from
                              directory_users r
                            where
                              r.id = n.resolved_by_id
                          ),
                          'null'
                        ),
                        coalesce('"' || to_char((n.resolved_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null')
                      )
                    end,
                    case
                      when false
                      and exists (
                        select
                          1
                        from
                          note_positions p
                        where
                          p.thread_id = n.thread_id
                      ) then format(
                        ',"position":%s,"commit_id":%s,"suggestions":[%s]',
                        (
                          select
                            p.shown::text
                          from
                            note_positions p
                          where
                            p.thread_id = n.thread_id
                        ),
                        coalesce(
                          '"' || (
                            (
                              select
                                p.commit_id
                              from
                                note_positions p
                              where
                                p.thread_id = n.thread_id
                            )
                          ) || '"',
                          'null'
                        ),
                        array_to_string(
                          (
                            select
                              array_agg(
                                format(
                                  '{"id":%s,"from_line":%s,"to_line":%s,"appliable":%s,"applicable":%s,"applied":%s,"from_content":%s,"to_content":%s}',
                                  s.id,
                                  greatest(1, (p.shown ->> 'new_line')::integer - s.lines_above),
                                  (p.shown ->> 'new_line')::integer + s.lines_below,
                                  case
                                    when s.commit_id is null
                                    and p.is_active
                                    and not s.is_outdated
                                    and exists (
                                      select
                                        1
                                      from
                                        merge_requests open
                                      where
                                        open.id = p.noteable_id
                                        and open.state = 'opened'
                                    )
                                    and s.from_content <> s.to_content
                                    and p.new_path not like '%ipynb' then 'true'
                                    else 'false'
                                  end,
                                  case
                                    when s.commit_id is null
                                    and p.is_active
                                    and not s.is_outdated
                                    and exists (
                                      select
                                        1
                                      from
                                        merge_requests open
                                      where
                                        open.id = p.noteable_id
                                        and open.state = 'opened'
                                    )
                                    and s.from_content <> s.to_content
                                    and p.new_path not like '%ipynb' then 'true'
                                    else 'false'
                                  end,
                                  case
                                    when s.commit_id is not null then 'true'
                                    else 'false'
                                  end,
                                  to_json(s.from_content),
                                  to_json(s.to_content)
                                )
                                order by
                                  s.relative_order,
                                  s.id
                              ) as texts
                            from
                              suggestions s
                              join note_positions p on p.thread_id = n.thread_id
                            where
                              s.note_id = n.id
                          ),
                          ','
                        )
                      )
                    end
                  )
                end,
                case
                  when e.push_data is not null then format(
                    ',"push_data":{"commit_count":%s,"action":"%s","ref_type":"%s","commit_from":%s,"commit_to":%s,"ref":%s,"commit_title":%s,"ref_count":%s}',
                    e.push_data ->> 'commit_count',
                    e.push_data ->> 'action',
                    e.push_data ->> 'ref_type',
                    coalesce('"' || (e.push_data ->> 'commit_from') || '"', 'null'),
                    coalesce('"' || (e.push_data ->> 'commit_to') || '"', 'null'),
                    coalesce(to_json(e.push_data ->> 'ref')::text, 'null'),
                    coalesce(to_json(e.push_data ->> 'commit_title')::text, 'null'),
                    coalesce((e.push_data ->> 'ref_count')::text, 'null')
                  )
                end
              )
            end,
            ','
            order by
              e.created_at desc,
              e.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          e.*,
          sum(e.bytes) over () > 524288 as is_heavy
        from
          (
            select
              e.*
            from
              found e
            order by
              e.created_at desc,
              e.id desc
            limit
              20
          ) e
      ) e
      left join notes n on n.id = e.target_id
      and e.target_type in ('Note', 'DiscussionNote', 'DiffNote')
      left join directory_users a on a.id = n.author_id
      left join directory_users author on author.id = e.author_id
  ) as json
