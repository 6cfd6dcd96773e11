"""Domains of e-mail addresses."""

from __future__ import annotations

_PUBLIC = """gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.fr ymail.com outlook.com hotmail.com hotmail.co.uk
    hotmail.fr live.com msn.com icloud.com me.com mac.com aol.com gmx.com gmx.de gmx.net web.de t-online.de freenet.de
    orange.fr wanadoo.fr free.fr laposte.net libero.it protonmail.com proton.me mail.com mail.ru yandex.ru yandex.com
    qq.com 163.com 126.com naver.com comcast.net verizon.net att.net zoho.com fastmail.com hey.com"""
PUBLIC_DOMAINS = frozenset(_PUBLIC.split())
"""Domains whose addresses say nothing about whom their holder works for."""
