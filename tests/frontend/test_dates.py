"""Dates, and other objects of classes written in C, beside what is differentiated."""

import array
import datetime

import numpy as np
import pytest

import autodiff_compiler as ad

START = datetime.datetime(2018, 1, 1)
BUFFER = array.array("d", [1.0, 2.0])


def scaled_by_season(x, when):
    if when.month < 3:
        return x * when.year
    return x * when.day


def with_fraction_of_day(x, when):
    return x * (when.hour + when.minute / 60 + when.second / 3600)


def in_microseconds(x, when):
    return x * 5.0 if when.microsecond else x


def days_since(x, when):
    passed = when - START
    return x * (passed.days + passed.seconds / 86400)


def seconds_since(x, when):
    return x * (when - START).total_seconds()


def later(x, when):
    return x * (when + datetime.timedelta(days=30)).month


def of_the_year(x, when):
    return x * when.timetuple().tm_yday if when.tzinfo is None else x


def made(x, when):
    return x * (datetime.datetime(when.year, 7, 1) - START).days


PROGRAMS = [
    scaled_by_season,
    with_fraction_of_day,
    in_microseconds,
    days_since,
    seconds_since,
    later,
    of_the_year,
    made,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_parts_of_dates(f):
    gradient = ad.grad(f)
    for when in (datetime.datetime(2019, 1, 4, 6, 30), datetime.datetime(2020, 8, 17, 23, 5, 1, 250)):
        assert gradient(2.0, when) == pytest.approx(f(1.0, when), rel=1e-12)


def test_the_parts_of_a_date_are_no_part_of_the_signature():
    gradient = ad.grad(with_fraction_of_day)
    for hour in range(1, 20):
        gradient(2.0, datetime.datetime(2019, 1, 4, hour))
    assert gradient.source().count("def ") == 1


def test_an_attribute_that_a_class_in_c_computes():
    def by_code(x):
        return x * 3.0 if BUFFER.typecode == "f" else x * 2.0

    def by_bits(x, rng):
        return x * 2.0 if rng.bit_generator.state["bit_generator"] == "PCG64" else x

    assert ad.grad(by_code)(2.0) == 2.0
    assert ad.grad(by_bits)(2.0, np.random.default_rng(0)) == 2.0
